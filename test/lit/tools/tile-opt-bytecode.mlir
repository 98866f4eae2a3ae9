// Bytecode is written and read, with tile's types and layouts, and text and bytecode hold the same.
// RUN: tile-opt %s -emit-bytecode -o %t.mlirbc
// RUN: tile-opt %t.mlirbc | FileCheck %s
// RUN: tile-opt %s -emit-bytecode | tile-opt -tile-assign-layouts -verify-each | FileCheck %s --check-prefix=LAYOUTS
// RUN: tile-opt %s -verify-roundtrip | FileCheck %s
// RUN: tile-opt %s -tile-assign-layouts -emit-bytecode | tile-opt -verify-roundtrip | FileCheck %s --check-prefix=LAYOUTS
// RUN: tile-opt %s -emit-bytecode-version=6 | tile-opt | FileCheck %s
// RUN: not tile-opt %s -emit-bytecode-version=1000000 -o %t.none 2>&1 | FileCheck %s --check-prefix=VERSION
// RUN: not ls %t.none

// CHECK: %[[T:[a-z0-9]+]] = tile.load %{{.*}} : memref<64x64xf16> -> tensor<64x64xf16>
// CHECK: tile.store %[[T]]
// LAYOUTS: #[[L:[a-z0-9_]+]] = #tile.layout
// LAYOUTS: tile.load %{{.*}} -> tensor<64x64xf16, #[[L]]>
// VERSION: error: cannot write bytecode of version 1000000
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<64x64xf16>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %0 = tile.load %a[%i, %i] : memref<64x64xf16> -> tensor<64x64xf16>
    tile.store %0, %a[%i, %i] : tensor<64x64xf16>, memref<64x64xf16>
    gpu.return
  }
}
