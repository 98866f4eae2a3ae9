// RUN: tile-opt %s --tile-check-program | FileCheck %s

// CHECK-LABEL: gpu.func @all
// CHECK-SAME: tile.aligned = 16
// CHECK-SAME: tile.rasterize = 4
// CHECK: tile.direct
// CHECK: tile.stages = 3
gpu.module @m {
  gpu.func @all(%a: memref<?x?xf16> {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>,
                                     tile.strides = array<i64: 8, 1>}, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.rasterize = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %x = tile.load %a[%i, %c0] {tile.direct} : memref<?x?xf16> -> tensor<64x64xf16>
    } {tile.stages = 3 : i64, tile.unroll = 2 : i64}
    // Other dialects' are not ours to judge.
    scf.for %i = %c0 to %n step %n {
    } {llvm.loop_annotation = "any", stages = 3 : i64}
    gpu.return
  }
}
