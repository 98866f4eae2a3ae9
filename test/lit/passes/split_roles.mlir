// RUN: tile-opt %s --tile-split-roles | FileCheck %s

// What follows the work of those that load is for the others; their barriers are their own.

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @roles
  // CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
  gpu.func @roles(%own: i1, %m: memref<4xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    // CHECK: gpu.barrier
    gpu.barrier
    // CHECK-NEXT: scf.if
    scf.if %own {
      // CHECK-NEXT: nvvm.setmaxregister decrease 40
      nvvm.setmaxregister decrease 40
      // CHECK-NEXT: } else {
    } {tile.producer = array<i64: 384, 40, 232>}
    // CHECK-NEXT: nvvm.setmaxregister increase 232
    // CHECK-DAG: %[[THREADS:.*]] = llvm.mlir.constant(256 : i32)
    // CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: nvvm.barrier id = %[[ONE]] number_of_threads = %[[THREADS]]
    // CHECK-NEXT: memref.store
    // CHECK-NEXT: scf.if
    gpu.barrier
    memref.store %f, %m[%c0] : memref<4xf32>
    scf.if %own {
      // CHECK-NOT: gpu.barrier
      // CHECK: nvvm.barrier id
      gpu.barrier
    }
    // CHECK: gpu.return
    gpu.return
  }

  // Of warpgroups that take tiles in turn there is one more, behind that which loads; each meets
  // at a barrier of its own.
  // CHECK-LABEL: gpu.func @turns
  // CHECK-SAME: known_block_size = array<i32: 384, 1, 1>
  // CHECK-NOT: tile.turns
  gpu.func @turns(%own: i1, %m: memref<4xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.turns = 2 : i64} {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    scf.if %own {
    } {tile.producer = array<i64: 256, 40, 232>}
    // CHECK: nvvm.setmaxregister increase 232
    // CHECK: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: %[[NUMBER:.*]] = arith.divui %[[THREAD]], %c256
    // CHECK: %[[WORD:.*]] = arith.index_cast %[[NUMBER]]
    // CHECK: %[[SAME:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[WORD]]
    // CHECK: %[[WIDE:.*]] = arith.index_castui %[[SAME]]
    // CHECK: %[[NEXT:.*]] = arith.addi %[[WIDE]], %c1
    // CHECK: %[[OWN:.*]] = arith.index_cast %[[NEXT]] : index to i32
    // CHECK: %[[THREADS:.*]] = llvm.mlir.constant(128 : i32)
    // CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %[[THREADS]]
    // CHECK-NEXT: memref.store
    gpu.barrier
    memref.store %f, %m[%c0] : memref<4xf32>
    gpu.return
  }
}
