// RUN: tile-opt %s --tile-check-wgmma | FileCheck %s

// A loop that goes on in one accumulator, fenced in front of it; an accumulator given back and used.

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @legal(
  gpu.func @legal(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> (!D) {
      %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %x if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      tile.wgmma_commit
      scf.yield %y : !D
    }
    %w = tile.wgmma_wait 0 %d : !D
    // CHECK: tile.warp_part
    %p = tile.warp_part %w column 0 : !D -> !P
    gpu.return
  }
}
