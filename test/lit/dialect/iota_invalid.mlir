// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @element_type() {
  // expected-error @below {{'tile.iota' op elements are integers, not f32; cast the result}}
  %0 = tile.iota axis 0 : tensor<16xf32>
  return
}

// -----

func.func @range() {
  // expected-error @below {{'tile.iota' op indices up to 255 do not fit i8, whose largest number is 127}}
  %0 = tile.iota axis 1 : tensor<2x256xi8>
  return
}

// -----

func.func @axis() {
  // expected-error @below {{'tile.iota' op axis must be 0 to 0, not 1}}
  %0 = tile.iota axis 1 : tensor<16xi32>
  return
}

// -----

func.func @scalar() {
  // expected-error @below {{'tile.iota' op result must be a tensor with a #tile.layout encoding or a !tile.frag, not i32}}
  %0 = tile.iota axis 0 : i32
  return
}
