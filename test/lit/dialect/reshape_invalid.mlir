// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @elements(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.reshape' op a tile of 8x4 has 32 elements, one of 16 has 16}}
  %0 = tile.reshape %t : tensor<8x4xi32> -> tensor<16xi32>
  return
}

// -----

func.func @element_type(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.reshape' op the result is a tile of 32xi32, not of 32xf32}}
  %0 = tile.reshape %t : tensor<8x4xi32> -> tensor<32xf32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!V = !tile.frag<tensor<128xf32>, #tile.layout<"register [1] [2]; lane [4] [8] [16] [32] [64] -> row 128">>
func.func @lanes(%c: !C) {
  // expected-error @below {{'tile.reshape' op moves elements between lanes: the source gives the layout 'register [1] [64]; lane [2] [4] [8] [16] [32] -> row 128'}}
  %0 = tile.reshape %c : !C -> !V
  return
}

// -----

func.func @units(%t: tensor<64x3xf16>) {
  // expected-error @below {{'tile.reshape' op 64x3 does not become 192 unit by unit: units of 64x1, 1x3 of them, against 64, 3 of them; legal: shapes of one order of powers of two and odd factors}}
  %0 = tile.reshape %t : tensor<64x3xf16> -> tensor<192xf16>
  return
}
