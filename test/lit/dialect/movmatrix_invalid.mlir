// RUN: tile-opt %s --split-input-file --verify-diagnostics

!R = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
!C = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>
func.func @unknown_form(%r: !R) {
  // expected-error @below {{'tile.movmatrix' op unknown movmatrix form 'movmatrix'; legal: movmatrix.sync.aligned.m8n8.trans.b16}}
  %c = tile.movmatrix %r {form = "movmatrix"} : !R -> !C
  return
}

// -----

!R = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
func.func @result_layout(%r: !R) {
  // expected-error @below {{'tile.movmatrix' op operand d of movmatrix.sync.aligned.m8n8.trans.b16 has the layout 'register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8', not 'register [0,1];}}
  %c = tile.movmatrix %r {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !R -> !R
  return
}

// -----

!C = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>
func.func @source_layout(%r: !C) {
  // expected-error @below {{'tile.movmatrix' op operand a of movmatrix.sync.aligned.m8n8.trans.b16 has the layout}}
  %c = tile.movmatrix %r {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !C -> !C
  return
}

// -----

!R = !tile.frag<tensor<8x8xf32>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
func.func @width(%r: !R) {
  // expected-error @below {{'tile.movmatrix' op takes 16-bit elements and keeps them: f32 to f32}}
  %c = tile.movmatrix %r {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !R -> !R
  return
}

// -----

!R = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
!C = !tile.frag<tensor<8x8xbf16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>
func.func @element_type(%r: !R) {
  // expected-error @below {{'tile.movmatrix' op takes 16-bit elements and keeps them: f16 to bf16}}
  %c = tile.movmatrix %r {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !R -> !C
  return
}

// -----

func.func @fragments(%r: vector<2xf16>) {
  // expected-error @below {{'tile.movmatrix' op source must be a !tile.frag, not vector<2xf16>}}
  %c = tile.movmatrix %r {form = "movmatrix.sync.aligned.m8n8.trans.b16"}
      : vector<2xf16> -> vector<2xf16>
  return
}
