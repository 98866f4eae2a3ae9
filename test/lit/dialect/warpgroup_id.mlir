// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @number(
func.func @number() -> index {
  // CHECK: %[[N:.*]] = tile.warpgroup_id : index
  %n = tile.warpgroup_id : index
  // CHECK: return %[[N]]
  return %n : index
}
