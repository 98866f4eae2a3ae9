// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-check-target

// What LLVM would abort at is refused before, at its line.

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @alloc() kernel {
    // expected-error @below {{'tile.alloc_tensor' op tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 does not exist on sm_90a; it needs sm_100a (PTX 8.6)}}
    %d = tile.alloc_tensor : memref<128x32xf32, #tile.tensor<"d">>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_120a">] {
  gpu.func @fence() kernel {
    // expected-error @below {{tcgen05.fence::after_thread_sync does not exist on sm_120a}}
    tile.tcgen05_fence after
    gpu.return
  }
}

// -----

// Integers have left the family's targets, and sm_103a.
!A = memref<128x128xi8, #tile.shared<"128B">>
!D = memref<128x128xi32, #tile.tensor<"d">>
gpu.module @m [#nvvm.target<chip = "sm_103a">] {
  gpu.func @integers(%a: !A, %d: !D, %t: i1) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{tcgen05.mma.cta_group::1.kind::i8.a::descriptor does not exist on sm_103a; it needs sm_100a (PTX 8.6), sm_101a (PTX 8.6), sm_110a (PTX 9.0)}}
    tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::i8.a::descriptor", types = "s32.s8.u8"} : !A, !A, !D
    gpu.return
  }
}

// -----

!D = memref<128x32xf32, #tile.tensor<"d">>
gpu.module @m [#nvvm.target<chip = "sm_100"> ] {
  gpu.func @load(%d: !D, %i: index) {
    // expected-error @below {{tcgen05.ld.sync.aligned.32x32b.x1.b32 does not exist on sm_100; it needs sm_100a}}
    %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x1.b32"} : !D -> !tile.frag<tensor<32x1xf32>, #tile.layout<"register; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 1">>
    gpu.return
  }
}
