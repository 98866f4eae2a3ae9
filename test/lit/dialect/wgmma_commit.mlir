// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @group(
func.func @group() {
  // CHECK: tile.wgmma_commit
  tile.wgmma_commit
  return
}
