// RUN: tile-opt %s --split-input-file --tile-check-target --verify-diagnostics

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  gpu.func @plain_hopper(%a: !A, %b: !B, %c: !D, %k: index, %t: i1) {
    // expected-error @below {{'tile.wgmma' op wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor does not exist on sm_90; it needs sm_90a (PTX 8.0); sm_90 has no form of wgmma}}
    %d = tile.wgmma %a[%k, %k], %b[%k, %k], %c if %t
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    gpu.return
  }
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @ampere(%b: !Bars, %i: index, %d: !D) {
    tile.barrier_arrive %b[%i] : !Bars
    // expected-error @below {{'tile.barrier_expect' op mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 does not exist on sm_80; it needs sm_90 (PTX 8.0)}}
    tile.barrier_expect %b[%i] bytes 16 : !Bars
    // expected-error @below {{'tile.wgmma_wait' op wgmma.wait_group.sync.aligned does not exist on sm_80; it needs sm_90a (PTX 8.0)}}
    %w = tile.wgmma_wait 0 %d : !D
    gpu.return
  }
}

// -----

!M = memref<?x?xf16>
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @blackwell(%m: !M, %i: index) {
    tile.tma_prefetch %m[%i, %i] shape [64, 64] : !M
    // expected-error @below {{'tile.wgmma_commit' op wgmma.commit_group.sync.aligned does not exist on sm_100a; it needs sm_90a (PTX 8.0)}}
    tile.wgmma_commit
    gpu.return
  }
}
