// RUN: tile-opt %s --tile-place-accumulators --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %S/stage_tcgen05.mlir --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-specialize-warps,tile-order-proxies,tile-place-accumulators)' | FileCheck %s --check-prefix=RING

// With warps that load, the thread that issues waits for a stage and commits to its other mbarrier, and
// the loader waits for the last commits. The others wait once, for what is committed after the loop.
// RING-LABEL: gpu.func @gemm
// RING-DAG: %[[DONE:.*]] = tile.alloc_shared : memref<1xi64
// RING-DAG: %[[EMPTY:.*]] = tile.alloc_shared : memref<6xi64
// RING: tile.barrier_init %[[EMPTY]]{{.*}} count 1 : memref<6xi64
// RING-NOT: setmaxregister
// RING: scf.for
// RING: tile.tma_load
// RING: scf.yield
// RING-COUNT-6: tile.barrier_wait
// RING-NOT: tile.barrier_wait
// RING: tile.producer = array<i64: 384, 168, 168>
// RING: scf.for
// RING: nvvm.elect.sync
// RING: tile.barrier_wait
// RING-NEXT: tile.tcgen05_fence after
// RING-COUNT-4: tile.tcgen05_mma
// RING-NEXT: tile.tcgen05_commit
// RING-NOT: tile.barrier_wait
// RING: scf.yield
// RING: tile.tcgen05_commit %[[DONE]]
// RING: tile.barrier_wait %[[DONE]]
// RING-NEXT: tile.tcgen05_fence after
// RING-NEXT: tile.tensor_load

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<1x64x64xf16, #tile.shared<"128B">>
!C = tensor<128x64xf32, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16] [0,32]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [32,0] [64,0] -> row 128, col 64">>
!Out = memref<128x64xf32>
!Half = memref<1x32x64xf16, #tile.shared<"128B">>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // The sums stay in tensor memory; the first round does not add; the loop carries the phase alone.
  // Of a loop with no round what is loaded is the zeros that it starts with.
  // CHECK-LABEL: gpu.func @in_loop
  // WHY: remark: 'tile.tensor_dot' op has its sums in tensor memory, kept there by all rounds of the loop, and loaded after it
  gpu.func @in_loop(%depth: index, %out: !Out) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[BAR:.*]] = tile.alloc_shared : memref<1xi64, #tile.shared<"none">>
    // CHECK: %[[D:.*]] = tile.alloc_tensor : memref<1x1x128x64xf32, #tile.tensor<"d">>
    // CHECK: tile.barrier_init %[[BAR]]{{.*}} count 1
    // CHECK: nvvm.fence.mbarrier.init
    // CHECK: gpu.barrier
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %zero = arith.constant dense<0.0> : !C
    // CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %{{.*}}, %[[LOW:.*]] : index
    // CHECK: scf.if %[[EMPTY]] {
    // CHECK-NEXT: tile.tensor_store
    // CHECK: scf.for %[[K:.*]] = %[[LOW]] to %{{.*}} iter_args(%[[PHASE:.*]] = %false{{.*}}) -> (i1)
    // CHECK: %[[ADDS:.*]] = arith.cmpi ne, %[[K]], %[[LOW]]
    // CHECK: nvvm.elect.sync
    // CHECK: tile.tcgen05_fence after
    // CHECK: tile.tcgen05_mma {{.*}}, %[[D]][{{.*}}] if %[[ADDS]] {
    // CHECK-COUNT-3: tile.tcgen05_mma {{.*}}, %[[D]][{{.*}}] if %true
    // CHECK-NOT: tile.tcgen05_mma
    // CHECK: tile.tcgen05_commit %[[BAR]]
    // CHECK: tile.barrier_wait %[[BAR]][%{{.*}}] parity %[[PHASE]]
    // CHECK-NEXT: tile.tcgen05_fence after
    // CHECK-NOT: tile.tensor_load
    // CHECK: scf.yield
    // CHECK: tile.tensor_load %[[D]]
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %next = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %sum {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %sums, %out[%c0, %c0] : !C, !Out
    gpu.return
  }

  // What the rounds begin with is stored first, and there is a barrier before the thread that issues.
  // CHECK-LABEL: gpu.func @begun
  gpu.func @begun(%depth: index, %out: !Out) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %start = tile.load %out[%c0, %c0] : !Out -> !C
    // CHECK: %[[START:.*]] = tile.load
    // CHECK: tile.tensor_store %[[START]]
    // CHECK-NEXT: tile.tcgen05_fence before
    // CHECK-NEXT: gpu.barrier
    // CHECK: scf.for
    // CHECK-COUNT-4: tile.tcgen05_mma {{.*}} if %true
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %start) -> (!C) {
      %next = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %sum {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %sums, %out[%c0, %c0] : !C, !Out
    gpu.return
  }

  // Of a pair of CTAs a thread of each arrives in the even CTA, where one issues for both and tells both.
  // CHECK-LABEL: gpu.func @pair
  gpu.func @pair(%depth: index, %out: !Out) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    // CHECK: %[[BARS:.*]] = tile.alloc_shared : memref<2xi64, #tile.shared<"none">>
    // CHECK: %[[SUMS:.*]] = tile.alloc_tensor {cta_group = 2 : i64} : memref<1x1x256x64xf32, #tile.tensor<"d cta_group::2">>
    // CHECK: tile.barrier_init %[[BARS]]{{.*}} count 1
    // CHECK: tile.barrier_init %[[BARS]]{{.*}} count 2
    // CHECK: nvvm.cluster.arrive
    // CHECK-NEXT: nvvm.cluster.wait
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !Half
    %zero = arith.constant dense<0.0> : !C
    // CHECK: scf.for {{.*}} iter_args(%[[AT:.*]] = %false
    // CHECK: tile.tcgen05_fence before
    // CHECK-NEXT: gpu.barrier
    // CHECK: nvvm.elect.sync
    // CHECK: tile.barrier_arrive %[[BARS]][%{{.*}}] of
    // CHECK: nvvm.read.ptx.sreg.cluster.ctarank
    // CHECK: scf.if
    // CHECK: tile.barrier_wait %[[BARS]][%{{.*}}] parity %[[AT]] cluster
    // CHECK-NEXT: tile.tcgen05_fence after
    // CHECK-COUNT-4: tile.tcgen05_mma {{.*}}cta_group::2
    // CHECK: tile.tcgen05_commit %[[BARS]][%{{.*}}] multicast %{{.*}} {cta_group = 2 : i64}
    // CHECK: tile.barrier_wait %[[BARS]][%{{.*}}] parity %[[AT]] cluster
    // CHECK: scf.yield
    // CHECK: tile.tensor_load %[[SUMS]]
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %next = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %sum {form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !Half, !C
      scf.yield %next : !C
    }
    tile.store %sums, %out[%c0, %c0] : !C, !Out
    gpu.return
  }

  // Sums that others look at in the loop are loaded in each round, before any warp lets the next one begin.
  // CHECK-LABEL: gpu.func @looked_at
  // WHY: remark: 'tile.tensor_dot' op has its sums in tensor memory, stored before and loaded after it
  gpu.func @looked_at(%depth: index, %out: !Out) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %zero = arith.constant dense<0.0> : !C
    // CHECK: scf.for
    // CHECK: %[[HALF:.*]] = arith.addf
    // CHECK: tile.tensor_store %[[HALF]]
    // CHECK: tile.tcgen05_mma
    // CHECK: tile.barrier_wait
    // CHECK: tile.tensor_load
    // CHECK-NEXT: tile.tcgen05_fence before
    // CHECK-NEXT: gpu.barrier
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %more = arith.addf %sum, %sum : !C
      %next = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %more {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %sums, %out[%c0, %c0] : !C, !Out
    gpu.return
  }
}
