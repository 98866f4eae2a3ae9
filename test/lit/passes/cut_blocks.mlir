// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-cut-blocks{longest=4 piece=2})' | FileCheck %s
// RUN: tile-opt %s --tile-cut-blocks | FileCheck %s --check-prefix=SHORT

// SHORT: gpu.module @m
// SHORT-NOT: cf.br
// SHORT-NOT: scf.execute_region

gpu.module @m {
  // Two accesses a block, beside what is computed.
  // CHECK-LABEL: gpu.func @accesses(
  // CHECK: memref.load
  // CHECK: memref.load
  // CHECK-NEXT: cf.br ^bb1
  // CHECK: ^bb1:
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: cf.br ^bb2
  // CHECK: ^bb2:
  // CHECK-NEXT: gpu.return
  gpu.func @accesses(%a: memref<8xf32>, %i: index) kernel {
    %x = memref.load %a[%i] : memref<8xf32>
    %y = memref.load %a[%i] : memref<8xf32>
    %z = arith.addf %x, %y : f32
    memref.store %z, %a[%i] : memref<8xf32>
    memref.store %x, %a[%i] : memref<8xf32>
    gpu.return
  }

  // Computations are not cut, however many.
  // CHECK-LABEL: gpu.func @computed(
  // CHECK-NOT: cf.br
  // CHECK: gpu.return
  gpu.func @computed(%f: f32) kernel {
    %0 = arith.addf %f, %f : f32
    %1 = arith.addf %0, %f : f32
    %2 = arith.addf %1, %f : f32
    %3 = arith.addf %2, %f : f32
    gpu.return
  }

  // The body of a loop is one block, so a region inside has those that it becomes, and gives what it gave.
  // CHECK-LABEL: gpu.func @loop(
  // CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}})
  // CHECK-NEXT: %[[INSIDE:.*]] = scf.execute_region -> f32 {
  // CHECK-COUNT-2: scf.if
  // CHECK: cf.br ^bb1
  // CHECK: ^bb1:
  // CHECK: %[[LAST:.*]] = scf.if
  // CHECK: scf.yield %[[LAST]] : f32
  // CHECK: scf.yield %[[INSIDE]] : f32
  gpu.func @loop(%a: memref<8xf32>, %n: index, %f: f32, %p: i1) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> (f32) {
      %y = scf.if %p -> f32 { scf.yield %x : f32 } else { scf.yield %f : f32 }
      %z = arith.addf %x, %y : f32
      %w = scf.if %p -> f32 { scf.yield %z : f32 } else { scf.yield %f : f32 }
      %v = scf.if %p -> f32 { scf.yield %w : f32 } else { scf.yield %z : f32 }
      scf.yield %v : f32
    }
    memref.store %s, %a[%c0] : memref<8xf32>
    gpu.return
  }
}
