// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @groups(
func.func @groups() {
  // CHECK: "tile.async_wait"() {pending = 0 : i64} : () -> ()
  "tile.async_wait"() {pending = 0} : () -> ()
  // CHECK: "tile.async_wait"() {pending = 2 : i32} : () -> ()
  "tile.async_wait"() {pending = 2 : i32} : () -> ()
  return
}
