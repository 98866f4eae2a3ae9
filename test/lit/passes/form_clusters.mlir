// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-form-clusters)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-form-clusters{enabled=false})' | FileCheck %s --check-prefix=OFF
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-form-clusters,tile-make-persistent,tile-specialize-warps)' | FileCheck %s --check-prefix=LOAD

!Array = memref<?x?xf16, strided<[?, 1]>>
!Out = memref<?x?xf32>
!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!D = tensor<128x128xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // The columns of B are the same for CTAs of a column of the grid.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-SAME: tile.cluster = array<i64: 1, 2, 1>
  // CHECK: tile.async_copy %arg0
  // CHECK-NOT: tile.multicast
  // CHECK: tile.async_copy %arg1{{.*}} {tile.multicast
  // WHY: remark: 'gpu.func' op is for clusters of 2 neighbours along y: each CTA loads a part of 1 copy for all, and a round takes 527 cycles of L2, not 703, beside 512 of products
  // OFF-LABEL: gpu.func @gemm
  // OFF-NOT: tile.cluster
  // LOAD-LABEL: gpu.func @gemm
  // LOAD-SAME: known_cluster_size = array<i32: 2, 1, 1>
  // A pair of tiles after the other; the last row may have no partner.
  // LOAD: %[[UP:.*]] = arith.addi %{{.*}}, %c1_i32
  // LOAD: %[[PAIRS:.*]] = arith.divui %[[UP]], %c2_i32
  // LOAD: %[[FIRST:.*]] = arith.divui %block_id_x, %c2
  // LOAD: %[[STEP:.*]] = arith.divui %grid_dim_x, %c2
  // LOAD: tile.barrier_init %[[FULL:.*]][%{{.*}}] count 1
  // LOAD: tile.barrier_init %[[EMPTY:.*]][%{{.*}}] count 16
  // LOAD: nvvm.cluster.arrive {aligned}
  // LOAD-NEXT: nvvm.cluster.wait {aligned}
  // LOAD: %[[RANK:.*]] = arith.remui
  // LOAD: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]]
  // LOAD: tile.barrier_expect %[[FULL]][%{{.*}}] bytes 32768
  // LOAD: tile.tma_load %arg0{{.*}} shape [128, 64]
  // Of two panels of B each CTA loads one, for both.
  // LOAD: arith.muli %[[RANK]], %c1
  // LOAD: tile.tma_load %arg1{{.*}} multicast %c3{{.*}} shape [64, 64]
  // LOAD-NOT: tile.tma_load
  // LOAD: tile.warpgroup_dot
  // LOAD-NEXT: tile.barrier_arrive %[[EMPTY]][%{{.*}}] ctas 2
  // LOAD: scf.if
  // LOAD: tile.store
  // LOAD: nvvm.cluster.arrive {aligned}
  // LOAD-NEXT: nvvm.cluster.wait {aligned}
  // LOAD-NEXT: gpu.return
  gpu.func @gemm(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %depth = memref.dim %a, %c1 : !Array
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%row, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %col] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%row, %col] masked : !D, !Out
    gpu.return
  }

  // One CTA along x counts: nothing that they read is the same.
  // CHECK-LABEL: gpu.func @line
  // CHECK-NOT: tile.cluster
  // CHECK-NOT: tile.multicast
  // WHY: remark: 'gpu.func' op has no clusters: its products do not read data that neighbours in the grid also read
  gpu.func @line(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %depth = memref.dim %a, %c1 : !Array
    %x = gpu.block_id x
    %row = arith.muli %x, %c128 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%row, %k] masked : !Array -> !A
      %tb = tile.load %b[%row, %k] masked transposed : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%row, %row] masked : !D, !Out
    gpu.return
  }
}
