// RUN: tile-opt %s --split-input-file --tile-fragments-to-nvvm --verify-diagnostics

// A descriptor counts in 16 bytes; what is known at run time only must be known to be a multiple.

!A = memref<64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @column(%k: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %z = tile.accumulator : !D
    // expected-error @below {{'tile.wgmma' op the column where operand a starts is not known to be a multiple of 8}}
    %d = tile.wgmma %a[%c0, %k], %b[%c0, %c0], %z if %true
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    gpu.return
  }
}
