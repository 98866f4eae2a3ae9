// RUN: tile-opt %s --tile-to-fragments --tile-check-wgmma | FileCheck %s

// Each product is fenced and committed, and awaited where it says.

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [0,64]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [64,0] -> row 128, col 128">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @two(%out: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c = arith.constant dense<0.0> : !D
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
  // CHECK-LABEL: gpu.func @two
  // CHECK: tile.wgmma_fence
  // CHECK-COUNT-4: tile.wgmma %
  // CHECK: tile.wgmma_commit
  // CHECK-NOT: tile.wgmma_wait
  // CHECK: tile.wgmma_fence
  // CHECK-COUNT-4: tile.wgmma %
  // CHECK: tile.wgmma_commit
  // CHECK: %[[ONE:.*]] = tile.wgmma_wait 1 %
  // CHECK: tile.warp_part %[[ONE]]
  // CHECK: %[[TWO:.*]] = tile.wgmma_wait 0 %
  // CHECK: tile.warp_part %[[TWO]]
    %one = tile.warpgroup_start %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
    %two = tile.warpgroup_start %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
    %d = tile.warpgroup_wait 1 %one : !D
    %e = tile.warpgroup_wait 0 %two : !D
    %sum = arith.addf %d, %e : !D
    tile.store %sum, %out[%c0, %c0] : !D, memref<128x128xf32>
    gpu.return
  }
}
