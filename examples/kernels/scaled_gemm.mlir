// RUN: tilec %s --target sm_120a | FileCheck %s
//
// C = A·B in the format mxf8: e4m3 elements, and for each 32 of them along K a scale, a power of
// two stored as ue8m0. A is MxK with scales MxK/32; B is stored as its transpose, NxK, with scales
// NxK/32. C is f32, K a multiple of 32, the grid (ceil(N / 128), ceil(M / 128)).
//
// The rows of the scales are promised to be multiples of 4 apart, so that those of a step along K
// are copied at once.

!A = tensor<128x128xf8E4M3FN>
!B = tensor<128x128xf8E4M3FN>
!C = tensor<128x128xf32>
!SA = tensor<128x4xf8E8M0FNU>
!SB = tensor<4x128xf8E8M0FNU>
!Input = memref<?x?xi8, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

// CHECK: mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale

gpu.module @scaled_gemm [#nvvm.target<chip = "sm_120a">] {
  gpu.func @scaled_gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>},
                        %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>},
                        %sa: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>},
                        %sb: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>},
                        %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Input
    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c128 iter_args(%sum = %zero) -> (!C) {
      %block = arith.divui %k, %c32 : index
      %ta = tile.load %a[%row, %k] masked : !Input -> !A
      %tb = tile.load %b[%col, %k] masked transposed : !Input -> !B
      %tsa = tile.load %sa[%row, %block] masked : !Input -> !SA
      %tsb = tile.load %sb[%col, %block] masked transposed : !Input -> !SB
      %next = tile.dot_scaled %ta, %tb, %sum, %tsa, %tsb : !A, !B, !C, !SA, !SB
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
