// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @axis(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.expand' op axis must be 0 to 2, not 3}}
  %0 = tile.expand %t axis 3 : tensor<8x4xi32> -> tensor<8x4x1xi32>
  return
}

// -----

func.func @negative(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.expand' op axis must be 0 to 2, not -1}}
  %0 = tile.expand %t axis -1 : tensor<8x4xi32> -> tensor<8x4x1xi32>
  return
}

// -----

func.func @shape(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.expand' op the result is a tile of 1x8x4xi32, not of 8x1x4xi32}}
  %0 = tile.expand %t axis 0 : tensor<8x4xi32> -> tensor<8x1x4xi32>
  return
}

// -----

func.func @element_type(%t: tensor<8x4xi32>) {
  // expected-error @below {{'tile.expand' op the result is a tile of 1x8x4xi32, not of 1x8x4xf32}}
  %0 = tile.expand %t axis 0 : tensor<8x4xi32> -> tensor<1x8x4xf32>
  return
}

// -----

!R = !tile.frag<tensor<16xf32>, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4] -> row 16">>
!E = !tile.frag<tensor<16x1xf32>, #tile.layout<"register [8,0]; lane [1,0] [2,0] [4,0] [0,0] [0,0] -> row 16, col 1">>
func.func @lanes(%r: !R) {
  // expected-error @below {{'tile.expand' op moves elements between lanes: the source gives the layout 'register [8,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0] -> row 16, col 1', in any order of registers}}
  %0 = tile.expand %r axis 1 : !R -> !E
  return
}
