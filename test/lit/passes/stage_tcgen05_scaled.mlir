// RUN: tile-opt %s --tile-select-tcgen05 --remarks 2>%t.err | FileCheck %s --check-prefix=SELECT
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05)' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-pipeline,tile-order-proxies,tile-place-accumulators)' | FileCheck %s --check-prefix=PLACE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-specialize-warps)' --remarks 2>&1 | FileCheck %s --check-prefix=RING

// nvf4: two elements in a byte, a factor for 16. The factors of A, whose 64 rows of B fill half of what a
// copy brings, and of B come to shared memory in the order of tcgen05.cp, four of a row at once.

!Bytes = memref<?x?xi8, strided<[?, 1]>>

// RING-DAG: remark: 'scf.for' op is split into roles: of 384 threads 256 compute, with 168 registers each, and one of the 128 others, with 168, loads boxes by TMA to a ring of 15 stages of 14336 bytes
// RING-DAG: remark: 'tile.async_copy' op is made by TMA, a box of 128x64 elements a round
// RING-DAG: remark: 'tile.async_copy' op is made by 64 of the threads that load, which TMA would not put in the order of tcgen05.cp; 4 rounds are in flight at a time

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // SELECT-LABEL: gpu.func @gemm
  // SELECT: tile.dot_scaled {{.*}} {form = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16.a::descriptor", warps = array<i64: 4, 2>}
  // WHY: remark: 'tile.dot_scaled' op becomes 2 tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 of m128n64k64, issued by one thread; its sums lie in 64 columns of tensor memory, which 4x2 warps load and its scale factors in 16

  // CHECK: #[[ORDER:.*]] = #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-DAG: %[[A:.*]] = tile.alloc_shared : memref<1x128x64xi8, #tile.shared<"64B">>
  // CHECK-DAG: %[[B:.*]] = tile.alloc_shared : memref<1x64x64xi8, #tile.shared<"64B">>
  // CHECK-DAG: tile.alloc_shared : memref<2x128x4xi8, #[[ORDER]]>
  // CHECK: scf.for
  // CHECK: tile.async_copy {{.*}} shape [128, 64] masked
  // CHECK: tile.async_copy {{.*}} shape [64, 64] masked
  // CHECK-COUNT-2: tile.async_copy {{.*}} shape [128, 8] masked {vector = 4 : i64}
  // CHECK-NOT: tile.load
  // CHECK: tile.tensor_dot_scaled %[[A]][{{.*}}], %[[B]][{{.*}}], %{{.*}} scale %{{.*}}[{{.*}}], %{{.*}}[{{.*}}] {form = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16.a::descriptor", types = "f32.e2m1.e2m1", warps = array<i64: 4, 2>}

  // Stages are full when one thread has arrived for boxes, and one of each of two warps for factors.
  // RING: %[[FULL:.*]] = tile.alloc_shared : memref<15xi64
  // RING: %[[EMPTY:.*]] = tile.alloc_shared : memref<15xi64
  // RING: tile.barrier_init %[[FULL]][%{{.*}}] count 3
  // RING: nvvm.elect.sync
  // RING: tile.barrier_wait %[[EMPTY]]
  // RING: tile.barrier_expect %[[FULL]][%{{.*}}] bytes 12288
  // RING-COUNT-2: tile.tma_load
  // RING: scf.for
  // RING: scf.if
  // RING: tile.barrier_wait %[[EMPTY]]
  // RING-COUNT-2: tile.async_copy {{.*}} shape [128, 8] masked {vector = 4 : i64, warps = array<i64: 10, 2>}
  // RING: tile.async_commit
  // RING: scf.if
  // RING-NEXT: tile.async_wait 4
  // RING-NEXT: nvvm.fence.proxy
  // RING: nvvm.bar.warp.sync
  // RING: tile.barrier_arrive %[[FULL]][%{{.*}}] elected
  // RING: tile.producer
  // RING: tile.barrier_wait %[[FULL]]
  // RING-NEXT: tile.tensor_dot_scaled
  // RING: tile.barrier_arrive %[[EMPTY]]
  // PLACE-LABEL: gpu.func @gemm
  // PLACE-DAG: %[[SA:.*]] = tile.alloc_tensor : memref<2x1x128x4xi8, #tile.tensor<"scale">>
  // PLACE-DAG: tile.alloc_tensor : memref<1x1x128x64xf32, #tile.tensor<"d">>
  // PLACE: scf.for
  // PLACE: nvvm.fence.proxy
  // PLACE-NEXT: gpu.barrier
  // PLACE: nvvm.elect.sync
  // PLACE: tile.tcgen05_fence after
  // PLACE-COUNT-4: tile.tcgen05_cp
  // PLACE-COUNT-2: tile.tcgen05_mma_scaled
  // PLACE: tile.tcgen05_commit
  gpu.func @gemm(%a: !Bytes {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>}, %b: !Bytes {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>}, %sa: !Bytes {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>}, %sb: !Bytes {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<128x64xf32>) {
      %four = arith.divui %k, %c8 : index
      %ta = tile.load %a[%c0, %k] masked : !Bytes -> tensor<128x128xf4E2M1FN>
      %tb = tile.load %b[%c0, %k] masked transposed : !Bytes -> tensor<128x64xf4E2M1FN>
      %ts = tile.load %sa[%c0, %four] masked : !Bytes -> tensor<128x8xf8E4M3FN>
      %tt = tile.load %sb[%c0, %four] masked transposed : !Bytes -> tensor<8x64xf8E4M3FN>
      %next = tile.dot_scaled %ta, %tb, %sum, %ts, %tt : tensor<128x128xf4E2M1FN>, tensor<128x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x8xf8E4M3FN>, tensor<8x64xf8E4M3FN>
      scf.yield %next : tensor<128x64xf32>
    }
    tile.store %r, %c[%c0, %c0] masked : tensor<128x64xf32>, memref<?x?xf32>
    gpu.return
  }
}
