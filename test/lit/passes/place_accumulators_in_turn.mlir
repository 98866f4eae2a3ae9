// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-make-persistent,tile-specialize-warps,tile-order-proxies,tile-place-accumulators,tile-allocate-tensor-memory,tile-request-tiles)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-make-persistent,tile-specialize-warps,tile-order-proxies,tile-place-accumulators{accumulators=1},tile-request-tiles)' | FileCheck %s --check-prefix=ONE

!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!I = memref<?x?xf16, strided<[?, 1]>>
!R = memref<?x?xf32, strided<[?, 1]>>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // Two accumulators, and mbarriers that tell that one is complete, and that all warps have loaded it. The
  // second warp of those that load issues: of all tiles, which it takes from the responses, too.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK: tile.barrier_init %[[READ:.*]][%{{.*}}] count 257 : memref<2xi64
  // CHECK: tile.tcgen05_alloc {{.*}} columns 256
  // CHECK: %[[D:.*]] = tile.tensor_buffer {{.*}} memref<2x1x1x128x128xf32
  // CHECK: tile.barrier_init %[[SUMS:.*]][%c0{{.*}}] count 1 : memref<4xi64
  // CHECK: tile.barrier_init %[[SUMS]][%c1{{.*}}] count 1
  // CHECK: tile.barrier_init %[[SUMS]][%c2{{.*}}] count 8
  // CHECK: tile.barrier_init %[[SUMS]][%c3{{.*}}] count 8
  // CHECK: tile.try_cancel
  // CHECK: tile.tma_load
  // CHECK: scf.for
  // CHECK: tile.barrier_wait %[[SUMS]]
  // CHECK-NEXT: tile.tcgen05_fence after
  // CHECK: scf.for
  // CHECK-NOT: tile.tma_load
  // CHECK: tile.barrier_wait
  // CHECK: tile.tcgen05_fence after
  // CHECK-COUNT-4: tile.tcgen05_mma
  // CHECK-NEXT: tile.tcgen05_commit
  // CHECK: scf.yield
  // CHECK: tile.tcgen05_commit %[[SUMS]]
  // CHECK-NOT: tile.try_cancel
  // CHECK: tile.query_cancel
  // CHECK: tile.barrier_arrive
  // CHECK: tile.producer
  // CHECK: scf.for
  // CHECK-NOT: tile.tcgen05_mma
  // CHECK: tile.barrier_wait %[[SUMS]]
  // CHECK-NEXT: tile.tcgen05_fence after
  // CHECK-NEXT: tile.tensor_load %[[D]][%[[SLOT:.*]]]
  // CHECK-NEXT: tile.tcgen05_fence before
  // CHECK: tile.barrier_arrive %[[SUMS]]{{.*}} elected
  // CHECK: tile.store
  // WHY: remark: 'gpu.func' op has two accumulators in tensor memory, which tiles take in turn: another warp issues the products of the next tile while the sums of one are loaded
  // ONE-LABEL: gpu.func @gemm
  // ONE: tile.alloc_tensor : memref<1x1x128x128xf32
  // ONE: tile.producer
  // ONE: tile.tcgen05_mma
  gpu.func @gemm(%a: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %c: !R {llvm.noalias}, %depth: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.automatic} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 128 : index
    %step = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !C
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %size : index
    %row = arith.muli %y, %size : index
    %product = scf.for %k = %c0 to %depth step %step iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !I -> !A
      %tb = tile.load %b[%k, %col] masked : !I -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !R
    gpu.return
  }

  // A loop pins one.
  // CHECK-LABEL: gpu.func @pinned
  // CHECK: tile.tensor_buffer {{.*}} memref<1x1x128x128xf32
  gpu.func @pinned(%a: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %c: !R {llvm.noalias}, %depth: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.automatic} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 128 : index
    %step = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !C
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %size : index
    %row = arith.muli %y, %size : index
    %product = scf.for %k = %c0 to %depth step %step iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !I -> !A
      %tb = tile.load %b[%k, %col] masked : !I -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    } {tile.accumulators = 1 : i64}
    tile.store %product, %c[%row, %col] masked : !C, !R
    gpu.return
  }

  // Sums that begin with C stay with the threads that compute.
  // CHECK-LABEL: gpu.func @begun
  // CHECK: tile.tensor_buffer {{.*}} memref<1x1x128x128xf32
  // WHY: remark: 'tile.tensor_dot' op has one accumulator: its sums do not begin with zero
  gpu.func @begun(%a: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %c: !R {llvm.noalias}, %depth: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.automatic} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 128 : index
    %step = arith.constant 64 : index
    %one = arith.constant dense<1.0> : !C
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %size : index
    %row = arith.muli %y, %size : index
    %product = scf.for %k = %c0 to %depth step %step iter_args(%sum = %one) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !I -> !A
      %tb = tile.load %b[%k, %col] masked : !I -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !R
    gpu.return
  }
}
