// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @groups(
func.func @groups() {
  // CHECK: tile.async_wait 0
  tile.async_wait 0
  // CHECK: tile.async_wait 2 : i32
  tile.async_wait 2 : i32
  return
}
