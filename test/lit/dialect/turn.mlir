// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @number(
func.func @number() -> (index, index) {
  // CHECK: %[[N:.*]]:2 = tile.turn
  %n:2 = tile.turn
  // CHECK: return %[[N]]#0, %[[N]]#1
  return %n#0, %n#1 : index, index
}
