// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C += A·B with f16 in and f32 out, K split over the grid's third axis: each CTA multiplies one part
// of K, %part long, a multiple of 64, and adds its sum to C atomically. C starts as zero, or as what
// is to be added to. Float addition is done in any order, so the last bits vary from run to run.
// The grid is (ceil(N / 128), ceil(M / 128), ceil(K / part)).

!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!Input = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: {{red|atom}}.{{.*}}global{{.*}}add.f32

gpu.module @split_k_gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @split_k_gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                         %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                         %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>},
                         %part: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %z = gpu.block_id z
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Input
    %steps = arith.divui %part, %c64 : index
    %whole = arith.muli %steps, %c64 : index
    %first = arith.muli %z, %whole : index
    %behind = arith.addi %first, %whole : index
    %last = arith.minui %behind, %depth : index

    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %first to %last step %c64 iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !Input -> !A
      %tb = tile.load %b[%k, %col] masked : !Input -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }
    tile.atomic arith.addf %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
