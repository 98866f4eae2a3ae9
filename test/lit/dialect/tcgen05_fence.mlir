// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @sides(
func.func @sides() {
  // CHECK: tile.tcgen05_fence before
  tile.tcgen05_fence before
  // CHECK: tile.tcgen05_fence after
  tile.tcgen05_fence after
  return
}
