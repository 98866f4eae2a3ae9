// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-form-pairs)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-form-pairs{enabled=false})' | FileCheck %s --check-prefix=OFF
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-form-pairs,tile-make-persistent,tile-specialize-warps)' | FileCheck %s --check-prefix=LOAD
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-form-pairs,tile-make-persistent,tile-specialize-warps,tile-order-proxies,tile-place-accumulators{accumulators=1},tile-request-tiles)' | FileCheck %s --check-prefix=ISSUE
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-form-pairs,tile-specialize-warps)' | FileCheck %s --check-prefix=ALONE

!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!Half = tensor<64x64xf16>
!C64 = tensor<64x128xf32>
!I = memref<?x?xf16, strided<[?, 1]>>
!R = memref<?x?xf32, strided<[?, 1]>>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // CTAs of a column of the grid multiply other rows by the same columns.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-SAME: tile.cluster = array<i64: 1, 2, 1>
  // CHECK: tile.tensor_dot{{.*}}cta_group::1{{.*}}tile.in_pairs
  // WHY: remark: 'gpu.func' op is for pairs of 2 neighbours along y, which compute products of twice the rows together: each CTA loads half of B, and a round takes 527 cycles of L2, not 703, beside 256 of products
  // OFF-LABEL: gpu.func @gemm
  // OFF-NOT: tile.cluster
  // OFF-NOT: tile.in_pairs

  // A cluster takes two tiles at a time; each CTA loads half of B's panels, and all its rows of A.
  // LOAD-LABEL: gpu.func @gemm
  // LOAD-SAME: known_cluster_size = array<i32: 2, 1, 1>
  // LOAD-SAME: tile.cluster_tiles = array<i64: 1, 2, 1>
  // LOAD-DAG: tile.alloc_shared : memref<[[#STAGES:]]x1x128x64xf16
  // LOAD-DAG: tile.alloc_shared : memref<[[#STAGES]]x1x64x64xf16
  // LOAD: nvvm.cluster.arrive {aligned}
  // LOAD: tile.barrier_expect %{{.*}} bytes 24576
  // LOAD: tile.tma_load %arg0{{.*}} shape [128, 64]
  // LOAD: tile.tma_load %arg1{{.*}} shape [64, 64]
  // LOAD-NOT: tile.tma_load
  // LOAD: tile.producer
  // LOAD: tile.tensor_dot{{.*}}cta_group::2
  // LOAD-NOT: tile.in_pairs
  // LOAD: scf.if
  // LOAD: tile.store

  // One CTA asks for the next cluster, expects the bytes of both and issues; its commits tell both.
  // ISSUE-LABEL: gpu.func @gemm
  // ISSUE: tile.barrier_init %[[TOLD:.*]][%{{.*}}] count 513 : memref<2xi64
  // ISSUE: tile.alloc_tensor {cta_group = 2 : i64} : memref<1x1x256x128xf32
  // ISSUE: tile.barrier_init %[[DONE:.*]][%{{.*}}] count 2 : memref<2xi64
  // ISSUE: tile.barrier_init %[[FULL:.*]][%c0{{.*}}] count 1
  // ISSUE: nvvm.read.ptx.sreg.cluster.ctarank
  // ISSUE: tile.barrier_wait %[[TOLD]]{{.*}} cluster
  // ISSUE-NEXT: tile.try_cancel {{.*}} multicast
  // ISSUE: tile.barrier_expect %{{.*}} bytes 49152
  // ISSUE-NEXT: }
  // ISSUE: tile.tma_load %arg0{{.*}} {cta_group = 2 : i64}
  // ISSUE: tile.tma_load %arg1{{.*}} {cta_group = 2 : i64}
  // ISSUE: tile.producer
  // ISSUE: tile.barrier_arrive %[[DONE]][%{{.*}}] of
  // ISSUE: tile.barrier_wait %[[DONE]]{{.*}} cluster
  // ISSUE: scf.for
  // ISSUE-COUNT-4: tile.tcgen05_mma {{.*}}cta_group::2
  // ISSUE: tile.tcgen05_commit {{.*}} multicast %c3{{.*}} {cta_group = 2 : i64}
  // ISSUE: tile.tcgen05_commit %[[DONE]]{{.*}} multicast %c3{{.*}} {cta_group = 2 : i64}
  // ISSUE: tile.barrier_wait %[[DONE]]{{.*}} cluster
  // ISSUE: tile.tensor_load

  // Without tile-make-persistent each CTA multiplies for itself.
  // ALONE-LABEL: gpu.func @gemm
  // ALONE-NOT: cta_group::2
  // ALONE-NOT: tile.in_pairs
  // ALONE: tile.tensor_dot{{.*}}cta_group::1
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

  // Neighbours along x have the same rows, as this kernel asks for.
  // CHECK-LABEL: gpu.func @along_x
  // CHECK-NOT: tile.cluster
  // CHECK-NOT: tile.in_pairs
  // WHY: remark: 'gpu.func' op has no pairs of CTAs: no neighbours in the grid multiply different rows by the same columns of B
  gpu.func @along_x(%a: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %c: !R {llvm.noalias}, %depth: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.automatic, tile.cluster = array<i64: 2, 1, 1>} {
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

  // Each CTA of a pair has 128 rows, or a multiple.
  // CHECK-LABEL: gpu.func @few_rows
  // CHECK-NOT: tile.in_pairs
  // WHY: remark: 'gpu.func' op has no pairs of CTAs: 64x128 of D in each CTA is not for products of a pair; legal: a multiple of 128 rows, and 256 columns at most
  gpu.func @few_rows(%a: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %c: !R {llvm.noalias}, %depth: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.automatic} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 128 : index
    %rows = arith.constant 64 : index
    %step = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !C64
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %size : index
    %row = arith.muli %y, %rows : index
    %product = scf.for %k = %c0 to %depth step %step iter_args(%sum = %zero) -> (!C64) {
      %ta = tile.load %a[%row, %k] masked : !I -> !Half
      %tb = tile.load %b[%k, %col] masked : !I -> !B
      %next = tile.dot %ta, %tb, %sum : !Half, !B, !C64
      scf.yield %next : !C64
    }
    tile.store %product, %c[%row, %col] masked : !C64, !R
    gpu.return
  }
}
