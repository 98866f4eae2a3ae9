// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @twice(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.transpose' op permutation must be array<i64: …> with each of 0 to 1 once, not array<i64: 1, 1>}}
  %0 = tile.transpose %t [1, 1] : tensor<8x4xi32> -> tensor<4x4xi32>
  return
}

// -----

func.func @kind(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.transpose' op permutation must be array<i64: …> with each of 0 to 1 once, not [1, 0]}}
  %0 = "tile.transpose"(%t) {permutation = [1, 0]} : (tensor<8x4xi32>) -> tensor<4x8xi32>
  return
}

// -----

func.func @shape(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.transpose' op the result is a tile of 4x8xi32, not of 8x4xi32}}
  %0 = tile.transpose %t [1, 0] : tensor<8x4xi32> -> tensor<8x4xi32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!D = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [0,1] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 16">>
func.func @lanes(%c: !C) {
  // expected-error @below {{'tile.transpose' op moves elements between lanes: the source gives the layout 'register [1,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 16'}}
  %0 = tile.transpose %c [1, 0] : !C -> !D
  return
}
