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
    // expected-error @below {{'tile.wgmma' op takes operand 2 from registers that another instruction may have written, or a wait returned, since the last tile.wgmma_fence; legal: results of such a fence}}
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
    // expected-error @below {{'tile.warp_part' op uses operand 0 while a tile.wgmma may use it; legal: results of a tile.wgmma_wait}}
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
    // expected-error @below {{leaves 1 group in flight, the one of operand 0 among them; legal: pending of at most 0}}
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
    // expected-error @below {{'tile.wgmma_fence' op uses operand 0 while a tile.wgmma may use it}}
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
    // expected-error @below {{needs about 154 registers per thread, 128 of them the accumulator; at the entry of a CTA of 512 threads each has 128}}
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @wait_too_weak_after_a_loop(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
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
    // expected-error @below {{leaves 1 group in flight, the one of operand 0 among them; legal: pending of at most 0}}
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
  gpu.func @wait_on_one_way_alone(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = scf.if %t -> (!D) {
      %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      tile.wgmma_commit
      scf.yield %y : !D
    } else {
      %y = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
          {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
      tile.wgmma_commit
      %v = tile.wgmma_wait 0 %y : !D
      scf.yield %v : !D
    }
    // expected-error @below {{leaves 1 group in flight, the one of operand 0 among them; legal: pending of at most 0}}
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
  gpu.func @closed_on_one_way_alone(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    scf.if %t {
      tile.wgmma_commit
    }
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
  gpu.func @not_awaited(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    // expected-error @below {{may still be in flight when the kernel ends; legal: a tile.wgmma_commit and a tile.wgmma_wait of 0 after it, on every path}}
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @awaited_in_rounds_that_may_not_be(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    // expected-error @below {{may still be in flight when the kernel ends}}
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    %w = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d) -> (!D) {
      %v = tile.wgmma_wait 0 %x : !D
      scf.yield %v : !D
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
  gpu.func @taken_twice(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    // expected-note @-2 {{the product that has it}}
    // expected-error @below {{takes operand 2, an accumulator that another tile.wgmma has used; legal: the result of the last product on it}}
    %e = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    %v = tile.wgmma_wait 0 %d : !D
    %w = tile.wgmma_wait 0 %e : !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @not_the_last(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    %e = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %d if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    // expected-note @-2 {{the product that has it}}
    tile.wgmma_commit
    // expected-error @below {{takes operand 0, an accumulator that another tile.wgmma has used}}
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
  gpu.func @not_fenced_by_a_wait(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    // A wait orders what products did, not what other instructions wrote.
    %v = tile.wgmma_wait 0 %z : !D
    // expected-error @below {{takes operand 2 from registers that another instruction may have written}}
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %v if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
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
  gpu.func @other_shape(%a: !A, %b: !B, %n: index, %t: i1, %ta: memref<64x32xf32, #tile.shared<"128B">>, %tb: memref<8x32xf32, #tile.shared<"128B">>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %e8 = tile.accumulator : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    // expected-error @below {{uses an accumulator that a product m64n8k16 may work on, with one m64n8k8; legal: after a tile.wgmma_wait and a tile.wgmma_fence, since only products of one shape are ordered}}
    %e = tile.wgmma %ta[%c0, %c0], %tb[%c0, %c0], %d if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32.a::descriptor"} : memref<64x32xf32, #tile.shared<"128B">>, memref<8x32xf32, #tile.shared<"128B">>, !D
    tile.wgmma_commit
    %w = tile.wgmma_wait 0 %e : !D
    gpu.return
  }
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @a_overwritten(%a: !A, %b: !B, %n: index, %t: i1, %m: memref<?x64xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %d = tile.wgmma %a[%c0, %c0], %b[%c0, %c0], %f if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    tile.wgmma_commit
    // expected-note @-3 {{the product in flight}}
    // expected-error @below {{'tile.async_copy' op overwrites shared memory that a tile.wgmma may still read; legal: after a tile.wgmma_wait that covers its group}}
    tile.async_copy %m[%n, %c0] to %a[%c0, %c0] shape [64, 64] {vector = 8} : memref<?x64xf16> to !A
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
  gpu.func @more_registers_than_there_are(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %g = tile.warpgroup_id
    %p = arith.cmpi eq, %g, %c0 : index
    scf.if %p {
      nvvm.setmaxregister decrease 40
    } else {
      // expected-error @below {{waits forever for registers: the warpgroups request 40 + 240 + 240 = 520 per thread; at entry the CTA has 3 times 168, 504}}
      nvvm.setmaxregister increase 240
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
  gpu.func @decreases_to_more(%a: !A, %b: !B, %n: index, %t: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = tile.accumulator : !D
    %f = tile.wgmma_fence %z : !D
    %g = tile.warpgroup_id
    %p = arith.cmpi ult, %g, %c1 : index
    scf.if %p {
      // expected-error @below {{decreases registers to 232, of which warpgroup 0 has 168 there}}
      nvvm.setmaxregister decrease 232
    }
    gpu.return
  }
}
