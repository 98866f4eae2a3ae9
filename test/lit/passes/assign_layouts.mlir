// RUN: tile-opt %s --tile-select-mma --tile-assign-layouts | FileCheck %s

#P = #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
#O = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp [16,0] -> row 32, col 16">
!Global = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

// CHECK-DAG: #[[C:[A-Za-z0-9_]+]] = #tile.operand<c, m16n8, 128x128, warps 4x2>
// CHECK-DAG: #[[A:[A-Za-z0-9_]+]] = #tile.operand<a, m16k16, b16, 128x64, warps 4x2>
// CHECK-DAG: #[[B:[A-Za-z0-9_]+]] = #tile.operand<b, k16n8, b16, 64x128, warps 4x2>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // The product's layouts go to its loads, through the loop to the store.
  // CHECK-LABEL: gpu.func @gemm(
  // CHECK: arith.constant dense<0.000000e+00> : tensor<128x128xf32, #[[C]]>
  // CHECK: scf.for {{.*}} -> (tensor<128x128xf32, #[[C]]>)
  // CHECK: tile.load{{.*}} -> tensor<128x64xf16, #[[A]]>
  // CHECK: tile.load{{.*}} -> tensor<64x128xf16, #[[B]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: tile.dot
  // CHECK-NOT: warps =
  // CHECK: tile.store
  gpu.func @gemm(%a: !Global, %b: !Global, %c: !Result) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %depth = memref.dim %a, %c1 : !Global
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) {
      %x = tile.load %a[%c0, %k] masked : !Global -> tensor<128x64xf16>
      %y = tile.load %b[%k, %c0] masked : !Global -> tensor<64x128xf16>
      %s = tile.dot %x, %y, %acc : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
      scf.yield %s : tensor<128x128xf32>
    }
    tile.store %r, %c[%c0, %c0] masked : tensor<128x128xf32>, !Result
    gpu.return
  }

  // A result that is operand A of the next product: the layouts of rows go from its reduction to
  // what is added up and repeated; only the operand is converted. A transposed load loads the
  // transpose.
  // CHECK-LABEL: gpu.func @attention(
  // CHECK: tile.load{{.*}} transposed {{.*}} -> tensor<64x64xf16, #[[KB:[A-Za-z0-9_]+]]>
  // CHECK-NOT: tile.transpose
  // CHECK: %[[S:.*]] = tile.dot{{.*}}, tensor<64x64xf32, #[[KC:[A-Za-z0-9_]+]]>
  // CHECK: tile.reduce {{.*}} %[[S]] axis {{.*}}{{.*}} -> tensor<64xf32, #[[ROW:[A-Za-z0-9_]+]]>
  // CHECK: tile.expand{{.*}} : tensor<64xf32, #[[ROW]]> -> tensor<64x1xf32, #[[ONE:[A-Za-z0-9_]+]]>
  // CHECK: tile.broadcast{{.*}} : tensor<64x1xf32, #[[ONE]]> -> tensor<64x64xf32, #[[KC]]>
  // CHECK: %[[P:.*]] = arith.truncf
  // CHECK: tile.convert_layout %[[P]] : tensor<64x64xf16, #[[KC]]> -> tensor<64x64xf16, #[[KA:[A-Za-z0-9_]+]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @attention(%q: memref<64x64xf16>, %k: memref<64x64xf16>, %o: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %x = tile.load %q[%z, %z] : memref<64x64xf16> -> tensor<64x64xf16>
    %y = tile.load %k[%z, %z] : memref<64x64xf16> -> tensor<64x64xf16>
    %t = tile.transpose %y [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %s = tile.dot %x, %t, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %m = tile.reduce arith.maximumf %s axis 1 : tensor<64x64xf32> -> tensor<64xf32>
    %e = tile.expand %m axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %b = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x64xf32>
    %d = arith.subf %s, %b : tensor<64x64xf32>
    %p = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
    %v = tile.load %k[%z, %z] : memref<64x64xf16> -> tensor<64x64xf16>
    %r = tile.dot %p, %v, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.store %r, %o[%z, %z] : tensor<64x64xf32>, memref<64x64xf32>
    gpu.return
  }

  // Without products: as wide as accesses say, rows over warps where columns are reduced.
  // CHECK-LABEL: gpu.func @softmax(
  // CHECK: tile.load{{.*}} -> tensor<64x128xf16, #[[WIDE:[A-Za-z0-9_]+]]>
  // CHECK: arith.extf {{.*}} to tensor<64x128xf32, #[[WIDE]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @softmax(%x: memref<64x128xf16>, %y: memref<64x128xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 0 : index
    %h = tile.load %x[%z, %z] {vector = 8} : memref<64x128xf16> -> tensor<64x128xf16>
    %f = arith.extf %h : tensor<64x128xf16> to tensor<64x128xf32>
    %m = tile.reduce arith.maximumf %f axis 1 : tensor<64x128xf32> -> tensor<64xf32>
    %e = tile.expand %m axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %b = tile.broadcast %e : tensor<64x1xf32> -> tensor<64x128xf32>
    %s = arith.subf %f, %b : tensor<64x128xf32>
    %t = arith.truncf %s : tensor<64x128xf32> to tensor<64x128xf16>
    tile.store %t, %y[%z, %z] {vector = 8} : tensor<64x128xf16>, memref<64x128xf16>
    gpu.return
  }

  // Pinned by an attribute, and by a conversion to a type with a layout.
  // CHECK-LABEL: gpu.func @pinned(
  // CHECK: tile.load{{.*}} -> tensor<32x16xf32, #[[PIN:[A-Za-z0-9_]+]]>
  // CHECK: math.sqrt {{.*}} : tensor<32x16xf32, #[[PIN]]>
  // CHECK: tile.load{{.*}} -> tensor<32x16xf32, #[[OTHER:[A-Za-z0-9_]+]]>
  // CHECK: tile.convert_layout{{.*}} : tensor<32x16xf32, #[[OTHER]]> -> tensor<32x16xf32, #[[OTHER]]>
  gpu.func @pinned(%g: memref<32x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %x = tile.load %g[%z, %z] {tile.layout = #P} : memref<32x16xf32> -> tensor<32x16xf32>
    %y = math.sqrt %x : tensor<32x16xf32>
    tile.store %y, %g[%z, %z] : tensor<32x16xf32>, memref<32x16xf32>
    %u = tile.load %g[%z, %z] : memref<32x16xf32> -> tensor<32x16xf32>
    %v = tile.convert_layout %u : tensor<32x16xf32> -> tensor<32x16xf32, #O>
    tile.store %v, %g[%z, %z] : tensor<32x16xf32, #O>, memref<32x16xf32>
    gpu.return
  }

  // Weights of 4 bits along N cannot be loaded as the operand they become; the cast is done
  // first. Stored along K they can.
  // CHECK-LABEL: gpu.func @weights(
  // CHECK: %[[W:.*]] = tile.load{{.*}} -> tensor<32x64xi4, #[[N:[A-Za-z0-9_]+]]>
  // CHECK: %[[H:.*]] = arith.sitofp %[[W]] : tensor<32x64xi4, #[[N]]> to tensor<32x64xf16, #[[N]]>
  // CHECK: tile.convert_layout %[[H]] : tensor<32x64xf16, #[[N]]> -> tensor<32x64xf16, #[[WB:[A-Za-z0-9_]+]]>
  // CHECK: %[[K:.*]] = tile.load{{.*}} transposed {{.*}} -> tensor<32x64xi4, #[[WB]]>
  // CHECK: arith.sitofp %[[K]] : tensor<32x64xi4, #[[WB]]> to tensor<32x64xf16, #[[WB]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @weights(%x: memref<32x32xf16>, %n: memref<32x32xi8>, %k: memref<64x16xi8>, %o: memref<32x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %x[%z, %z] : memref<32x32xf16> -> tensor<32x32xf16>
    %zero = arith.constant dense<0.0> : tensor<32x64xf32>
    %w = tile.load %n[%z, %z] : memref<32x32xi8> -> tensor<32x64xi4>
    %h = arith.sitofp %w : tensor<32x64xi4> to tensor<32x64xf16>
    %d = tile.dot %a, %h, %zero : tensor<32x32xf16>, tensor<32x64xf16>, tensor<32x64xf32>
    %v = tile.load %k[%z, %z] transposed : memref<64x16xi8> -> tensor<32x64xi4>
    %i = arith.sitofp %v : tensor<32x64xi4> to tensor<32x64xf16>
    %e = tile.dot %a, %i, %d : tensor<32x32xf16>, tensor<32x64xf16>, tensor<32x64xf32>
    tile.store %e, %o[%z, %z] : tensor<32x64xf32>, memref<32x64xf32>
    gpu.return
  }
}
