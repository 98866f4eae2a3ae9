// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @extent(%t: tensor<2x8xf16>) {
  // expected-error @below {{'tile.broadcast' op the result is a tile of 2x8xf16, not of 4x8xf16}}
  %0 = tile.broadcast %t : tensor<2x8xf16> -> tensor<4x8xf16>
  return
}

// -----

func.func @rank(%t: tensor<8xf16>) {
  // expected-error @below {{'tile.broadcast' op repeats a tile of rank 1 as one of that rank, not 2; tile.expand puts in dimensions}}
  %0 = tile.broadcast %t : tensor<8xf16> -> tensor<4x8xf16>
  return
}

// -----

!E = !tile.frag<tensor<16x1xf32>, #tile.layout<"register [8,0]; lane [1,0] [2,0] [4,0] [0,0] [0,0] -> row 16, col 1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @lanes(%e: !E) {
  // expected-error @below {{'tile.broadcast' op moves elements between lanes: the source gives the layout 'register [8,0]; lane [1,0] [2,0] [4,0] [0,0] [0,0] -> row 16, col 1', in any order of registers, not 'register [0,0] [8,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0] -> row 16, col 1'}}
  %0 = tile.broadcast %e : !E -> !C
  return
}
