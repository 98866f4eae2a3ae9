// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @f(%say: memref<2xi64, #tile.shared<"none">>, %bar: memref<2xi64, #tile.shared<"none">>, %i: index) {
  // expected-error @+1 {{'tile.try_cancel' op responses are memref<…x2xi64, #tile.shared<"none">>, 16 bytes each, not memref<2xi64, #tile.shared<"none">>}}
  tile.try_cancel %say[%i] signal %bar[%i] : memref<2xi64, #tile.shared<"none">> signal memref<2xi64, #tile.shared<"none">>
  return
}

// -----

func.func @f(%say: memref<2x2xi64, #tile.shared<"none">>, %bar: memref<2x2xi64, #tile.shared<"none">>, %i: index) {
  // expected-error @+1 {{'tile.try_cancel' op barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not memref<2x2xi64, #tile.shared<"none">>}}
  tile.try_cancel %say[%i] signal %bar[%i] : memref<2x2xi64, #tile.shared<"none">> signal memref<2x2xi64, #tile.shared<"none">>
  return
}
