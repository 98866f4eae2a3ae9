// RUN: tile-opt %s --tile-from-linalg="tile-m=64 tile-n=32 tile-k=16 warps=2" | FileCheck %s
// RUN: tile-opt %s --tile-from-linalg --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 7, 2, 3>
// CHECK: step %c16
// CHECK: tile.dot{{.*}} : tensor<64x16xf64>, tensor<16x32xf64>, tensor<64x32xf64>

// REMARK: remark: 'linalg.batch_matmul' op becomes tiles of 64x64x16 (M, N, K) for 4 warps; its grid is (4, 2, 3)
// REMARK: linalg.batch_matmul
func.func @k(%a: memref<3x100x50xf64>, %b: memref<3x50x200xf64>, %c: memref<3x100x200xf64>) {
  linalg.batch_matmul ins(%a, %b : memref<3x100x50xf64>, memref<3x50x200xf64>) outs(%c : memref<3x100x200xf64>)
  return
}
