// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

!Bar = memref<2xi64, #tile.shared<"none">>
!Say = memref<2x2xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @next
func.func @next(%say: !Say, %i: index) -> (i1, index, index) {
  // CHECK: %[[SAID:.*]]:4 = tile.query_cancel %{{.*}}[%{{.*}}] : memref<2x2xi64, #tile.shared<"none">>
  // CHECK: return %[[SAID]]#0, %[[SAID]]#1, %[[SAID]]#2 : i1, index, index
  %there, %x, %y, %z = tile.query_cancel %say[%i] : !Say
  return %there, %x, %y : i1, index, index
}

// CHECK-LABEL: func.func @everywhere
func.func @everywhere(%bar: !Bar, %say: !Say, %i: index) {
  // CHECK: tile.try_cancel %{{.*}}[%{{.*}}] signal %{{.*}}[%{{.*}}] multicast : memref
  tile.try_cancel %say[%i] signal %bar[%i] multicast : !Say signal !Bar
  return
}
