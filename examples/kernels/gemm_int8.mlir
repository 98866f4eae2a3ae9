// RUN: tilec %s --target sm_80 | FileCheck %s
//
// The GEMM of gemm.mlir with elements of s8, sums in s32; B is stored as its transpose, NxK. From
// sm_75 on. The grid is (ceil(N / 128), ceil(M / 128)).

!A = tensor<128x64xi8>
!B = tensor<64x128xi8>
!C = tensor<128x128xi32>
!Input = memref<?x?xi8, strided<[?, 1]>>
!Result = memref<?x?xi32, strided<[?, 1]>>

// CHECK: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32

gpu.module @gemm_int8 [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm_int8(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>},
                      %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>},
                      %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Input
    %zero = arith.constant dense<0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !Input -> !A
      %tb = tile.load %b[%col, %k] masked transposed : !Input -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
