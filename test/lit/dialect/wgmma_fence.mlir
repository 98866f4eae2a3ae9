// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @order(
func.func @order() {
  // CHECK: tile.wgmma_fence
  tile.wgmma_fence
  return
}
