// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @group(
func.func @group() {
  // CHECK: tile.async_commit
  tile.async_commit
  return
}
