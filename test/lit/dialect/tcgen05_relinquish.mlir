// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @permit(
func.func @permit() {
  // CHECK: tile.tcgen05_relinquish{{$}}
  tile.tcgen05_relinquish
  // CHECK: tile.tcgen05_relinquish {cta_group = 2 : i64}
  tile.tcgen05_relinquish {cta_group = 2}
  return
}
