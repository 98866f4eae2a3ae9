// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = A·B with f16 in and f32 out, for any M, N and K: what `gemm_bounds.mlir` spells out, without
// a layout, a lane or a buffer. Tiles of 128x128x64 for 8 warps; the grid is
// (ceil(N / 128), ceil(M / 128)).
//
// The attributes of the arguments promise that the matrices begin at multiples of 16 bytes and
// that their rows are multiples of 8 elements apart; without them the program is right, too, but
// copies element by element. `masked` reads zeros outside the matrices and writes nothing there.
// `tilec --remarks` says what the passes make of it.

!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!Input = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

// CHECK-LABEL: .entry gemm
// CHECK-COUNT-8: cp.async.cg.shared.global
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

gpu.module @gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
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

    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !Input -> !A
      %tb = tile.load %b[%k, %col] masked : !Input -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
