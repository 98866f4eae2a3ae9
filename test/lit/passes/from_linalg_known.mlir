// Tiles that were found best for products of some extents and targets.

// RUN: tile-opt %s --tile-from-linalg="known-tiles=sm_80:96x512x256=32x64x16x2,sm_90a:96x512x256=64x64x32x4" --remarks 2>&1 | FileCheck %s
// RUN: tile-opt %s --tile-from-linalg="known-tiles=sm_90a:96x512x256=64x64x32x4" --remarks 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: tile-opt %s --tile-from-linalg="known-tiles=sm_80:96x512x256=32x64x16x2 tile-m=16" --remarks 2>&1 | FileCheck %s --check-prefix=PINNED
// RUN: not tile-opt %s --tile-from-linalg=known-tiles=sm_80:96x512=32x64x16x2 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not tile-opt %s --tile-from-linalg=known-tiles=sm_80:96x512x256=48x64x16x2 2>&1 | FileCheck %s --check-prefix=POWER

// CHECK: from_linalg_known.mlir:[[@LINE+15]]:{{.*}}becomes tiles of 32x64x16 (M, N, K) for 2 warps, as the tuning store for 96x512x256, sm_80, has it; its grid is (8, 3, 1)
// CHECK: from_linalg_known.mlir:[[@LINE+18]]:{{.*}}the tuning store knows no tiles for 96x256x512, sm_80
// CHECK: tile.dot{{.*}} : tensor<32x16xf16>, tensor<16x64xf16>, tensor<32x64xf32>

// OTHER-NOT: as the tuning store
// OTHER: the tuning store knows no tiles for 96x512x256, sm_80

// PINNED: becomes tiles of 16x
// PINNED-NOT: the tuning store

// FORM: error: {{.*}}'sm_80:96x512=32x64x16x2' is not TARGET:MxNxK=MxNxKxWARPS
// POWER: error: {{.*}}48 is not a power of two, as tiles and warps are
module attributes {gpu.container_module} {
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @known(%a: memref<96x256xf16>, %b: memref<256x512xf16>, %c: memref<96x512xf32>) kernel {
    linalg.matmul ins(%a, %b : memref<96x256xf16>, memref<256x512xf16>) outs(%c : memref<96x512xf32>)
    gpu.return
  }
  gpu.func @unknown(%a: memref<96x512xf16>, %b: memref<512x256xf16>, %c: memref<96x256xf32>) kernel {
    linalg.matmul ins(%a, %b : memref<96x512xf16>, memref<512x256xf16>) outs(%c : memref<96x256xf32>)
    gpu.return
  }
}
}
