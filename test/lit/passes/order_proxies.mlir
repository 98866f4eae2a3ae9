// RUN: tile-opt %s --tile-order-proxies | FileCheck %s

// A fence between what is written and the barrier after which warpgroups read it: of a copy that
// the round before has begun, too. Buffers that no warpgroup reads need none.

!A = memref<2x1x64x64xf16, #tile.shared<"128B">>
!T = memref<64x64xf16, #tile.shared<"128B">>
!D = tensor<64x64xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] -> row 64, col 64">>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @rounds
  gpu.func @rounds(%a: memref<64x64xf16>, %sum: memref<1xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant dense<0.0> : !D
    %b = tile.alloc_shared : !A
    %t = tile.alloc_shared : !T
    // CHECK: tile.async_copy
    // CHECK-NEXT: gpu.barrier
    tile.async_copy %a[%c0, %c0] to %t[%c0, %c0] shape [64, 64] : memref<64x64xf16> to !T
    gpu.barrier
    // CHECK: scf.for
    %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%old = %zero) -> (!D) {
      // CHECK-NEXT: tile.async_wait 0
      // CHECK-NEXT: nvvm.fence.proxy {{.*}}async.shared
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: tile.warpgroup_dot
      tile.async_wait 0
      gpu.barrier
      %d = tile.warpgroup_dot %b[%c0, %c0, %c0, %c0], %b[%c0, %c0, %c0, %c0], %old {form = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.a::descriptor", warps = array<i64: 4, 1>} : !A, !A, !D
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: tile.async_copy
      gpu.barrier
      tile.async_copy %a[%c0, %c0] to %b[%c1, %c0, %c0, %c0] shape [64, 64] : memref<64x64xf16> to !A
      tile.async_commit
      scf.yield %d : !D
    }
    gpu.return
  }
}
