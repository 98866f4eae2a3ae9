// RUN: tile-opt %s --split-input-file --tile-check-target --verify-diagnostics

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  gpu.func @plain_hopper(%a: !A, %b: !B, %c: !D, %k: index, %t: i1) {
    // expected-error @below {{'tile.wgmma' op wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor does not exist on sm_90; it needs sm_90a (PTX 8.0); sm_90 has no form of wgmma}}
    %d = "tile.wgmma"(%a, %b, %c, %t, %k, %k, %k, %k) {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : (!A, !B, !D, i1, index, index, index, index) -> !D
    gpu.return
  }
}
