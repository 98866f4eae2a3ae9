// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C[i] = A[i]·B[i] for a batch of f16 matrices, f32 out: the batch is the grid's third axis. Tiles of
// 64x64x64 for 4 warps; the grid is (ceil(N / 64), ceil(M / 64), batch).

!T = tensor<64x64xf16>
!C = tensor<64x64xf32>
!Input = memref<?x?x?xf16, strided<[?, ?, 1]>>
!Result = memref<?x?x?xf32, strided<[?, ?, 1]>>

// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

gpu.module @batched_gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @batched_gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 8, 1>},
                         %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 8, 1>},
                         %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 4, 1>})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %i = gpu.block_id z
    %col = arith.muli %x, %c64 : index
    %row = arith.muli %y, %c64 : index
    %depth = memref.dim %a, %c2 : !Input
    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%i, %row, %k] masked : !Input -> !T
      %tb = tile.load %b[%i, %k, %col] masked : !Input -> !T
      %next = tile.dot %ta, %tb, %sum : !T, !T, !C
      scf.yield %next : !C
    }
    tile.store %product, %c[%i, %row, %col] masked : !C, !Result
    gpu.return
  }
}
