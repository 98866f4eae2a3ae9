// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @number(
func.func @number() -> index {
  // CHECK: %[[N:.*]] = tile.warpgroup_id
  %n = tile.warpgroup_id
  // CHECK: return %[[N]]
  return %n : index
}
