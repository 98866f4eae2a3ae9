// RUN: tile-opt %s --tile-select-wgmma --tile-stage-wgmma | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-pipeline,tile-order-proxies)' | FileCheck %s --check-prefix=RING
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-order-proxies,tile-to-fragments,tile-check-wgmma)' | FileCheck %s --check-prefix=FRAG

// A row by row, K along its lines: one panel of 64. B row by row, N along its lines: two panels. A
// load that something else needs too stays.

!Array = memref<?x?xf16, strided<[?, 1]>>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-DAG: %[[A:.*]] = tile.alloc_shared : memref<1x128x64xf16, #tile.shared<"128B">>
  // CHECK-DAG: %[[B:.*]] = tile.alloc_shared : memref<2x64x64xf16, #tile.shared<"128B">>
  // CHECK: scf.for
  // CHECK: gpu.barrier
  // CHECK: tile.async_copy {{.*}} to %[[A]][{{.*}}] shape [128, 64] masked
  // CHECK: tile.async_copy {{.*}} to %[[B]][{{.*}}] shape [64, 128] masked
  // CHECK: tile.async_commit
  // CHECK: tile.async_wait 0
  // CHECK: gpu.barrier
  // CHECK-NOT: tile.load
  // CHECK: tile.warpgroup_dot %[[A]][{{.*}}], %[[B]][{{.*}}], %{{.*}} {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1 : i64, warps = array<i64: 8, 1>}

  // The fence stands between the wait of a thread and the barrier, once a round.
  // RING-LABEL: gpu.func @gemm
  // RING-DAG: tile.alloc_shared : memref<3x1x128x64xf16, #tile.shared<"128B">>
  // RING-DAG: tile.alloc_shared : memref<3x2x64x64xf16, #tile.shared<"128B">>
  // RING: scf.for
  // RING: tile.async_wait 1
  // RING-NEXT: nvvm.fence.proxy
  // RING-NEXT: gpu.barrier
  // RING: tile.warpgroup_dot
  // RING-NOT: nvvm.fence.proxy
  // RING: tile.store

  // FRAG-LABEL: gpu.func @gemm
  // FRAG: %[[GROUP:.*]] = tile.warpgroup_id
  // FRAG: scf.for
  // FRAG: tile.join_warps
  // FRAG-NEXT: tile.wgmma_fence
  // FRAG-COUNT-4: tile.wgmma %
  // FRAG-NEXT: tile.wgmma_commit
  // FRAG-NEXT: tile.wgmma_wait 0
  // FRAG-NEXT: tile.warp_part
  gpu.func @gemm(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %d: memref<?x?xf16>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> tensor<128x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> tensor<64x128xf16>
      %next = tile.dot %ta, %tb, %sum : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    tile.store %r, %c[%c0, %c0] masked : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }

  // P comes from registers, and stays where the first product leaves it.
  // CHECK-LABEL: gpu.func @chained
  // CHECK: tile.warpgroup_dot
  // CHECK: %[[P:.*]] = arith.truncf
  // CHECK: tile.warpgroup_dot %[[P]], %{{.*}}[{{.*}}], {{.*}}a::registers
  // FRAG-LABEL: gpu.func @chained
  // FRAG-NOT: tile.convert_layout
  // FRAG: gpu.return
  gpu.func @chained(%q: !Array, %k: !Array, %v: !Array, %c: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %tq = tile.load %q[%c0, %c0] masked : !Array -> tensor<64x64xf16>
    %tk = tile.load %k[%c0, %c0] masked transposed : !Array -> tensor<64x64xf16>
    %tv = tile.load %v[%c0, %c0] masked : !Array -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %o = tile.dot %p, %tv, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.store %o, %c[%c0, %c0] masked : tensor<64x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
