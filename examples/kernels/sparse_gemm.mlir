// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = A·B with a 2:4 sparse A: of each four neighbours of a row, two are stored, and a code of four
// bits says which (`tilec.runtime.sparse.compress` makes both). A is Mx(K/2) f16, its codes Mx(K/4),
// two a byte, B KxN, C f32. K is a multiple of 8. The grid is (ceil(N / 128), ceil(M / 128)).

!A = tensor<128x32xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!E = tensor<128x16xi4>
!Input = memref<?x?xf16, strided<[?, 1]>>
!Codes = memref<?x?xi8, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

// CHECK: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32

gpu.module @sparse_gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @sparse_gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                        %e: !Codes {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>},
                        %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                        %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %b, %c0 : !Input
    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %half = arith.divui %k, %c2 : index
      %byte = arith.divui %k, %c8 : index
      %ta = tile.load %a[%row, %half] masked : !Input -> !A
      %te = tile.load %e[%row, %byte] masked : !Codes -> !E
      %tb = tile.load %b[%k, %col] masked : !Input -> !B
      %next = tile.dot_sp %ta, %tb, %sum, %te : !A, !B, !C, !E
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
