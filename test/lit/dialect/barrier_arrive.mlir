// RUN: tile-opt %s | tile-opt | FileCheck %s

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%b: !Bars, %i: index, %p: i1) {
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] : memref<3xi64, #tile.shared<"none">>
  tile.barrier_arrive %b[%i] : !Bars
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] of %{{.*}} : memref<3xi64, #tile.shared<"none">>
  tile.barrier_arrive %b[%i] of %i : !Bars
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] elected : memref<3xi64, #tile.shared<"none">>
  tile.barrier_arrive %b[%i] elected : !Bars
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] of %{{.*}} elected fenced : memref<3xi64, #tile.shared<"none">>
  tile.barrier_arrive %b[%i] of %i elected fenced : !Bars
  // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] ctas 2 : memref<3xi64, #tile.shared<"none">>
  tile.barrier_arrive %b[%i] ctas 2 : !Bars
  return
}
