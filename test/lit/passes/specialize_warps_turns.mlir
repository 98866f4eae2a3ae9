// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-choose-pingpong,tile-make-persistent,tile-specialize-warps)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY

// Two warpgroups take tiles in turn. Each begins behind the rounds of the tiles before its first,
// and leaves out those of the other's; an mbarrier for each says whose turn it is to multiply.

!Array = memref<?x?xf16, strided<[?, 1]>>
!Out = memref<?x?xf32>
!B = tensor<64x128xf16>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @in_turn
  // CHECK-SAME: tile.turns = 2 : i64
  // CHECK-NOT: tile.pingpong
  // CHECK: %[[FULL:.*]] = tile.alloc_shared : memref<[[STAGES:[0-9]+]]xi64
  // CHECK: %[[EMPTY:.*]] = tile.alloc_shared : memref<[[STAGES]]xi64
  // CHECK: %[[ORDER:.*]] = tile.alloc_shared : memref<2xi64
  // CHECK: tile.barrier_init %[[EMPTY]][%{{.*}}] count 4
  // CHECK-COUNT-2: tile.barrier_init %[[ORDER]][%{{.*}}] count 4
  // CHECK: %[[GROUP:.*]] = tile.warpgroup_id
  // CHECK: arith.cmpi eq, %[[GROUP]], %c1
  // CHECK: tile.tma_load
  // CHECK: {tile.producer = array<i64: 256, 40, 232>}
  // CHECK: %[[T:.*]]:2 = tile.turn
  // CHECK: %[[NEXT:.*]] = arith.addi %[[T]]#0, %c1
  // CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[NEXT]], %[[T]]#1
  // CHECK: %[[FOLLOWING:.*]] = arith.select %[[LAST]], %{{.*}}, %[[NEXT]]
  // CHECK: %[[ROUNDS:.*]] = arith.divui
  // CHECK: %[[OTHERS:.*]] = arith.subi %[[T]]#1, %c1
  // CHECK: arith.muli %[[ROUNDS]], %[[OTHERS]]
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T]]#0, %{{.*}}
  // CHECK: arith.muli %[[ROUNDS]], %[[T]]#0
  // CHECK: %[[BEHIND:.*]] = arith.muli %{{.*}}, %[[T]]#0
  // CHECK: %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[BEHIND]]
  // CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %[[T]]#1
  // CHECK: scf.for {{.*}} = %[[BEGIN]] to %{{.*}} step %[[STEP]] iter_args({{.*}}, {{.*}}, %[[TURN:.*]] = %[[FIRST]]) -> (i32, i1, i1) {
  // CHECK: tile.barrier_wait %[[ORDER]][%[[T]]#0] parity %[[TURN]]
  // CHECK-NEXT: scf.for
  // CHECK: tile.barrier_wait %[[FULL]]
  // CHECK: tile.warpgroup_dot
  // CHECK: tile.barrier_arrive %[[EMPTY]]
  // CHECK: }
  // CHECK-NEXT: tile.barrier_arrive %[[ORDER]][%[[FOLLOWING]]] elected
  // CHECK: tile.store
  // CHECK: %[[OTHER:.*]] = arith.xori %[[TURN]], %true
  // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[OTHER]]
  // WHY: is split into roles: of 384 threads 2 times 128 compute whole tiles in turn, with 232 registers each, and one of the 128 others, with 40, loads boxes by TMA to a ring of {{[0-9]+}} stages of 24576 bytes
  gpu.func @in_turn(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }
}
