// RUN: tile-opt %s | tile-opt | FileCheck %s

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @commit(
func.func @commit(%b: !Bars, %i: index, %mask: index) {
  // CHECK: tile.tcgen05_commit %{{.*}}[%{{.*}}] : memref<3xi64, #{{.*}}>
  tile.tcgen05_commit %b[%i] : !Bars
  // CHECK: tile.tcgen05_commit %{{.*}}[%{{.*}}] multicast %{{.*}} {cta_group = 2 : i64} : memref<3xi64, #{{.*}}>
  tile.tcgen05_commit %b[%i] multicast %mask {cta_group = 2} : !Bars
  return
}
