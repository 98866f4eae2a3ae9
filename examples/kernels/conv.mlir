// RUN: tilec %s --target sm_80 | FileCheck %s
//
// Convolution, 2-d, stride 1, as an implicit GEMM: f16 in, f32 out, images NxHxWxC, filters RxSxCxK,
// results NxPxQxK, P = H + 2·pad - R + 1 and Q likewise. A CTA computes 64 pixels of a row of the
// result by 64 filters; for each tap of the filter a tile of pixels by channels, shifted by the
// tap, is multiplied by channels by filters. What lies beside the image reads as zero. The grid is
// (ceil(K / 64), ceil(Q / 64), N · P).

!T = tensor<64x64xf16>
!C = tensor<64x64xf32>
!Image = memref<?x?x?x?xf16, strided<[?, ?, ?, 1]>>
!Filter = memref<?x?x?x?xf16, strided<[?, ?, ?, 1]>>
!Result = memref<?x?x?x?xf32, strided<[?, ?, ?, 1]>>

// CHECK: cp.async.cg.shared.global
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

gpu.module @conv [#nvvm.target<chip = "sm_80">] {
  gpu.func @conv(%image: !Image {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 8, 8, 1>},
                 %filter: !Filter {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 8, 8, 1>},
                 %result: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 4, 4, 1>},
                 %pad: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %z = gpu.block_id z
    %k = arith.muli %x, %c64 : index
    %q = arith.muli %y, %c64 : index
    %extent = memref.dim %result, %c1 : !Result
    %rows = arith.maxui %extent, %c1 : index  // a division by none is undefined
    %n = arith.divui %z, %rows : index
    %p = arith.remui %z, %rows : index
    %taps_r = memref.dim %filter, %c0 : !Filter
    %taps_s = memref.dim %filter, %c1 : !Filter
    %channels = memref.dim %image, %c3 : !Image
    %top = arith.subi %p, %pad : index
    %left = arith.subi %q, %pad : index

    %zero = arith.constant dense<0.0> : !C
    %sum = scf.for %r = %c0 to %taps_r step %c1 iter_args(%sum_r = %zero) -> (!C) {
      %h = arith.addi %top, %r : index
      %sum_rs = scf.for %s = %c0 to %taps_s step %c1 iter_args(%sum_s = %sum_r) -> (!C) {
        %w = arith.addi %left, %s : index
        %sum_rsc = scf.for %c = %c0 to %channels step %c64 iter_args(%sum_c = %sum_s) -> (!C) {
          %pixels = tile.load %image[%n, %h, %w, %c] masked : !Image -> !T
          %weights = tile.load %filter[%r, %s, %c, %k] masked : !Filter -> !T
          %next = tile.dot %pixels, %weights, %sum_c : !T, !T, !C
          scf.yield %next : !C
        }
        scf.yield %sum_rsc : !C
      }
      scf.yield %sum_rs : !C
    }
    tile.store %sum, %result[%n, %p, %q, %k] masked : !C, !Result
    gpu.return
  }
}
