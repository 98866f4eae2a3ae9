// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @f(%say: memref<2x4xi32, #tile.shared<"none">>, %i: index) {
  // expected-error @+1 {{'tile.query_cancel' op responses are memref<…x2xi64, #tile.shared<"none">>, 16 bytes each, not memref<2x4xi32, #tile.shared<"none">>}}
  %p, %x, %y, %z = tile.query_cancel %say[%i] : memref<2x4xi32, #tile.shared<"none">>
  return
}

// -----

func.func @f(%say: memref<2x2xi64, #tile.shared<"none">>, %i: index) {
  // expected-error @+1 {{'tile.query_cancel' op gives (i1, index, index, index), not (i1, i32, i32, i32)}}
  %0:4 = "tile.query_cancel"(%say, %i) : (memref<2x2xi64, #tile.shared<"none">>, index) -> (i1, i32, i32, i32)
  return
}
