// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @type() {
  // expected-error @below {{'tile.turn' op the numbers are of type index, not i32}}
  %n:2 = "tile.turn"() : () -> (index, i32)
  return
}

// -----

func.func @apart() {
  // expected-error @below {{'tile.alloc_shared' op apart must be 0 or more, not -1024}}
  %b = tile.alloc_shared {apart = -1024 : i64} : memref<8x8xf16, #tile.shared<"none">>
  return
}
