// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @wait(
func.func @wait() {
  // CHECK: tile.tcgen05_wait_st
  tile.tcgen05_wait_st
  return
}
