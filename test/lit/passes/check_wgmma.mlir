// RUN: tile-opt %s --tile-check-wgmma | FileCheck %s

// A loop that goes on in one accumulator, fenced in front of it; an accumulator given back and used.

!A = memref<64x64xf16, #tile.shared<"128B">>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m1 [#nvvm.target<chip = "sm_90a">] {
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

// Two accumulators that take turns: the group of each round is awaited in the next.

gpu.module @m2 [#nvvm.target<chip = "sm_90a">] {
  gpu.func @turns(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %z2 = tile.accumulator : !D
    %f2 = tile.wgmma_fence %z2 : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    %e:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d, %y = %f2) -> (!D, !D) {
      %v = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %y if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      tile.wgmma_commit
      %w = tile.wgmma_wait 1 %x : !D
      %o = tile.wgmma_fence %w : !D
      scf.yield %v, %o : !D, !D
    }
    %u = tile.wgmma_wait 0 %e#0 : !D
    gpu.return
  }
}

// One group is left in flight from round to round, and what it reads is not overwritten.

gpu.module @m3 [#nvvm.target<chip = "sm_90a">] {
  gpu.func @left_under_way(%a: !A, %b: !B, %n: index, %t: i1, %m: memref<?x64xf16>, %s: !S) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> (!D) {
      %even = arith.andi %i, %c1 : index
      %y = tile.wgmma %s[%even, %c0, %c0], %b[%c0, %c0], %x if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !S, !B, !D
      tile.wgmma_commit
      tile.wgmma_wait 1
      %odd = arith.xori %even, %c1 : index
      tile.async_copy %m[%i, %c0] to %s[%odd, %c0, %c0] shape [64, 64] {vector = 8} : memref<?x64xf16> to !S
      scf.yield %y : !D
    }
    %w = tile.wgmma_wait 0 %d : !D
    gpu.return
  }
}

// Either way takes the accumulator; a loop whose end is found out inside; registers that add up.

gpu.module @m4 [#nvvm.target<chip = "sm_90a">] {
  gpu.func @ways(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %g = tile.warpgroup_id
    %p = arith.cmpi eq, %g, %c0 : index
    scf.if %p {
      nvvm.setmaxregister decrease 24
    } else {
      nvvm.setmaxregister increase 240
    }
    %d = scf.if %t -> (!D) {
      %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      scf.yield %y : !D
    } else {
      %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      scf.yield %y : !D
    }
    tile.wgmma_commit
    %e = scf.while (%x = %d) : (!D) -> (!D) {
      %v = tile.wgmma_wait 0 %x : !D
      scf.condition(%t) %v : !D
    } do {
    ^bb0(%x: !D):
      %o = tile.wgmma_fence %x : !D
      %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %o if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      tile.wgmma_commit
      scf.yield %y : !D
    }
    // CHECK: tile.warp_part
    %q = tile.warp_part %e column 0 : !D -> !P
    gpu.return
  }
}
