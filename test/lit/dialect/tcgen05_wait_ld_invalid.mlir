// RUN: tile-opt %s --split-input-file --verify-diagnostics

!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @results(%x: !F) {
  // expected-error @below {{gives back each fragment as it takes it: 1 of the same types, not ()}}
  "tile.tcgen05_wait_ld"(%x) : (!F) -> ()
  return
}

// -----

func.func @scalar(%x: f32) {
  // expected-error @below {{operand 0 must be a !tile.frag, not f32}}
  %y = "tile.tcgen05_wait_ld"(%x) : (f32) -> f32
  return
}
