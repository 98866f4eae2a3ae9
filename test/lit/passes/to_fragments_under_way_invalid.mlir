// RUN: tile-opt %s --tile-to-fragments --split-input-file --verify-diagnostics

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [0,64]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [64,0] -> row 128, col 128">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @used(%out: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : !D
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    // expected-error @below {{is in flight, and 'arith.addf' takes its result; legal: a tile.warpgroup_wait of the same block}}
    %one = tile.warpgroup_start %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
    %sum = arith.addf %one, %one : !D
    tile.store %sum, %out[%c0, %c0] : !D, memref<128x128xf32>
    gpu.return
  }
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [0,64]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [64,0] -> row 128, col 128">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @too_few(%out: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : !D
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %one = tile.warpgroup_start %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
    // expected-error @below {{leaves 1 product in flight, and 0 begin after the one that it gives back}}
    %d = tile.warpgroup_wait 1 %one : !D
    tile.store %d, %out[%c0, %c0] : !D, memref<128x128xf32>
    gpu.return
  }
}
