// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps,tile-to-fragments,tile-defer-waits,tile-check-wgmma)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps)' | FileCheck %s --check-prefix=RECORDED

// tile-specialize-warps decides, and says so on the loop and in a remark; tile-defer-waits rewrites
// the loop: the first iteration is peeled, and a stage is released one iteration late.

!Array = memref<?x?xf16, strided<[?, 1]>>
!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!D = tensor<128x128xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // RECORDED-LABEL: gpu.func @chained
  // RECORDED: } {tile.defer_wait = true}
  // CHECK-LABEL: gpu.func @chained
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: %[[THERE:.*]] = arith.cmpi slt, %c0, %arg3
  // CHECK: scf.if %[[THERE]]
  // CHECK: tile.barrier_wait %[[FULL:.*]][%
  // CHECK: tile.wgmma_fence %{{.*}} : !
  // CHECK-COUNT-4: tile.wgmma %
  // CHECK-NOT: tile.wgmma_wait
  // CHECK: scf.for %{{.*}} = %c64{{.*}} to %arg3 step %c64 iter_args(%[[SUM:.*]] = %{{.*}}, %[[WORD:.*]] = %{{.*}}, %[[PARITY:.*]] = %{{.*}}, %[[LAST:.*]] = %c0_i32{{.*}}) -> (!{{.*}}, i32, i1, i32) {
  // CHECK: %[[STAGE:.*]] = arith.index_castui %[[WORD]]
  // CHECK: tile.barrier_wait %[[FULL]][%[[STAGE]]] parity %[[PARITY]]
  // CHECK: tile.wgmma_fence{{$}}
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %[[SUM]] if
  // CHECK: tile.wgmma %
  // CHECK: tile.wgmma %
  // CHECK: %[[NEXT:.*]] = tile.wgmma %
  // CHECK: tile.wgmma_commit
  // CHECK: tile.wgmma_wait 1{{$}}
  // CHECK: %[[BEFORE:.*]] = arith.index_castui %[[LAST]]
  // CHECK: tile.barrier_arrive %[[EMPTY:.*]][%[[BEFORE]]]
  // CHECK: scf.yield %[[NEXT]], %{{.*}}, %{{.*}}, %[[WORD]]
  // CHECK: tile.wgmma_wait 0 %
  // CHECK: tile.barrier_arrive %[[EMPTY]]
  // CHECK: else
  // WHY: leaves its product in flight at the end of an iteration; the next one begins its own, waits for this, and releases its stage
  gpu.func @chained(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // RECORDED-LABEL: gpu.func @pinned
  // RECORDED-NOT: tile.defer_wait
  // CHECK-LABEL: gpu.func @pinned
  // CHECK-NOT: tile.wgmma_wait 1
  // WHY: waits for its products in each iteration: tile.defer_wait = false
  gpu.func @pinned(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    } {tile.defer_wait = false}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // RECORDED-LABEL: gpu.func @two_stages
  // RECORDED-NOT: tile.defer_wait
  // CHECK-LABEL: gpu.func @two_stages
  // CHECK-NOT: tile.wgmma_wait 1
  // WHY: waits for its products in each iteration: a ring of 2 stages would have none to fill while two iterations are in flight
  gpu.func @two_stages(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 2 : i64}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // RECORDED-LABEL: gpu.func @two_stages_pinned
  // RECORDED: } {tile.defer_wait = true}
  // CHECK-LABEL: gpu.func @two_stages_pinned
  // CHECK: tile.wgmma_wait 1
  gpu.func @two_stages_pinned(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 2 : i64, tile.defer_wait = true}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // The sum of each iteration is added, or used, by other instructions.
  // CHECK-LABEL: gpu.func @added
  // CHECK-NOT: tile.wgmma_wait 1
  // WHY: waits for its products in each iteration: its product is not the accumulator of the next iteration
  gpu.func @added(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %one = tile.dot %ta, %tb, %zero : !A, !B, !D
      %next = arith.addf %sum, %one : !D
      scf.yield %next : !D
    } {tile.defer_wait = true}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // Threads that multiply also copy: one warpgroup is too few for another that loads.
  // RECORDED-LABEL: gpu.func @not_split
  // RECORDED-NOT: tile.defer_wait
  // CHECK-LABEL: gpu.func @not_split
  // CHECK-NOT: tile.wgmma_wait 1
  // WHY: is not split into warps that load and warps that compute: only 1 warpgroup would compute, fewer than 2
  // WHY: waits for its products in each iteration: the threads that multiply also copy, and fill a stage anew once every product that read it has ended
  gpu.func @not_split(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // Two products that each continue in their own accumulator become one group, with one wait; the
  // stages of all operands are released behind it.
  // RECORDED-LABEL: gpu.func @two_products
  // RECORDED: } {tile.defer_wait = true}
  // CHECK-LABEL: gpu.func @two_products
  // CHECK: tile.wgmma_fence %{{.*}}, %{{.*}} : !
  // CHECK: scf.for {{.*}} iter_args(%[[SUM:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[OTHER:[a-z0-9]+]] = %
  // CHECK: tile.wgmma_fence{{$}}
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %[[SUM]] if
  // CHECK-COUNT-2: tile.wgmma %
  // CHECK: %[[NEXT:.*]] = tile.wgmma %
  // CHECK-NOT: tile.wgmma_commit
  // CHECK: tile.barrier_wait
  // CHECK: tile.wgmma_fence{{$}}
  // CHECK: tile.wgmma %{{.*}}, %{{.*}}, %[[OTHER]] if
  // CHECK-COUNT-2: tile.wgmma %
  // CHECK: %[[GATE:.*]] = tile.wgmma %
  // CHECK: tile.wgmma_commit
  // CHECK-NOT: tile.barrier_arrive
  // CHECK: tile.wgmma_wait 1{{$}}
  // CHECK-COUNT-3: tile.barrier_arrive
  // CHECK: scf.yield %[[NEXT]], %[[GATE]]
  // CHECK: tile.wgmma_wait 0 %{{.*}}, %
  // WHY: is split into roles
  // WHY: leaves its products in flight at the end of an iteration; the next one begins its own, waits for these, and releases their stage
  gpu.func @two_products(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    %r:2 = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero, %other = %zero) -> (!D, !D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %tc = tile.load %b[%k, %c128] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      %gate = tile.dot %ta, %tc, %other : !A, !B, !D
      scf.yield %next, %gate : !D, !D
    }
    %product = arith.mulf %r#0, %r#1 : !D
    tile.store %product, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // RECORDED-LABEL: gpu.func @two_steps
  // RECORDED-NOT: tile.defer_wait
  // CHECK-LABEL: gpu.func @two_steps
  // CHECK-NOT: tile.wgmma_wait 1
  // WHY: waits for its products in each iteration: its body has 2 products, one of which is not the accumulator of the next iteration
  gpu.func @two_steps(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %tc = tile.load %b[%k, %c128] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      %gate = tile.dot %ta, %tc, %next : !A, !B, !D
      scf.yield %gate : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // RECORDED-LABEL: gpu.func @two_types
  // RECORDED-NOT: tile.defer_wait
  // CHECK-LABEL: gpu.func @two_types
  // CHECK-NOT: tile.wgmma_wait 1
  // WHY: waits for its products in each iteration: accumulators of its 2 products differ in type
  gpu.func @two_types(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    %less = arith.constant dense<0.0> : tensor<128x64xf32>
    %r:2 = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero, %other = %less) -> (!D, tensor<128x64xf32>) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %tc = tile.load %b[%k, %c128] masked : !Array -> tensor<64x64xf16>
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      %gate = tile.dot %ta, %tc, %other : !A, tensor<64x64xf16>, tensor<128x64xf32>
      scf.yield %next, %gate : !D, tensor<128x64xf32>
    }
    tile.store %r#0, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    tile.store %r#1, %c[%c0, %c128] masked : tensor<128x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // The loop stands where no warps are split off.
  // RECORDED-LABEL: gpu.func @carried
  // CHECK-LABEL: gpu.func @carried
  // CHECK-NOT: nvvm.setmaxregister
  // WHY: is not split into warps that load and warps that compute: it stands in a loop that carries values, neither at the top of the kernel nor in a loop over tiles there
  // WHY: waits for its products in each iteration: the threads that multiply also copy
  gpu.func @carried(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    %last = scf.for %tile = %c0 to %c4 step %c1 iter_args(%row = %c0) -> (index) {
      %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%row, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      tile.store %r, %c[%row, %c0] masked : !D, memref<?x?xf32>
      %below = arith.addi %row, %c128 : index
      scf.yield %below : index
    }
    gpu.return
  }

  // A loop that waits for cp.async has no ring.
  // CHECK-LABEL: gpu.func @no_ring
  // CHECK-NOT: tile.wgmma_wait 1
  // CHECK-NOT: tile.defer_wait
  // WHY: waits for its product in each iteration: its wait is not followed by the release of a stage alone
  gpu.func @no_ring(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    } {tile.defer_wait = true}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }
}
