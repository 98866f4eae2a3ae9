// RUN: tile-opt %s --tile-check-wgmma --split-input-file --verify-diagnostics

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @fence_missing(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    // expected-error @below {{'tile.wgmma' op takes operand 2 from registers that another instruction may have written since the last tile.wgmma_fence}}
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %z if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @fence_missing_in_the_first_round(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z) -> (!D) {
    // expected-error @below {{takes operand 2 from registers}}
    %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %x if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    scf.yield %y : !D
    }
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @wait_missing(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    // expected-error @below {{'tile.warp_part' op uses operand 0 while a tile.wgmma may work on it; legal: what a tile.wgmma_wait gives back}}
    %p = tile.warp_part %d column 0 : !D -> !P
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @wait_too_weak(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    // expected-error @below {{leaves 1 groups under way, the one of operand 0 among them; legal: pending of at most 0}}
    %w = tile.wgmma_wait 1 %d : !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @not_committed(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    // expected-error @below {{waits for operand 0, whose group no tile.wgmma_commit has closed}}
    %w = tile.wgmma_wait 0 %d : !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @fenced_in_flight(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    // expected-error @below {{'tile.wgmma_fence' op uses operand 0 while a tile.wgmma may work on it}}
    %g = tile.wgmma_fence %d : !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<256x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x256xf32>, #tile.layout<"m64n256k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @registers(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    // expected-error @below {{needs about 154 registers a thread, 128 of them the accumulator; at the entry of a CTA of 512 threads each has 128}}
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    gpu.return
  }
}
