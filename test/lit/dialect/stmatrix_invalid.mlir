// RUN: tile-opt %s --split-input-file --verify-diagnostics

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @unknown_form(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op unknown stmatrix form 'stmatrix.m8n8.x2'; nearest legal: stmatrix.sync.aligned.m}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.m8n8.x2"} : !D, !S
  return
}

// -----

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @family(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op takes a form of stmatrix; ldmatrix.sync.aligned.m8n8.x2.b16 is one of ldmatrix}}
  tile.stmatrix %d, %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x2.b16"} : !D, !S
  return
}

// -----

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
func.func @space(%d: !D, %m: memref<64x64xf16>, %i: index) {
  // expected-error @below {{'tile.stmatrix' op memory must be in the space #tile.shared<"…">, not memref<64x64xf16>}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x2.b16"} : !D, memref<64x64xf16>
  return
}

// -----

!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @value(%d: vector<4xf16>, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op the fragment must be a !tile.frag, not vector<4xf16>}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x2.b16"} : vector<4xf16>, !S
  return
}

// -----

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @count(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op the fragment is 2 matrices; stmatrix.sync.aligned.m8n8.x1.b16 moves 1}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x1.b16"} : !D, !S
  return
}

// -----

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @layout(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op stmatrix.sync.aligned.m8n8.x2.trans.b16 does not move a fragment of f16 with the layout}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x2.trans.b16"} : !D, !S
  return
}

// -----

// An accumulator of f32 has its pairs of columns in two registers.
!D = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 d f32">>
!S = memref<64x64xf32, #tile.shared<"128B">>
func.func @words(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op stmatrix.sync.aligned.m8n8.x4.b16 does not move a fragment of f32 with the layout}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !D, !S
  return
}

// -----

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<64x64xbf16, #tile.shared<"128B">>
func.func @element_type(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op element types differ: f16 in the tile}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x2.b16"} : !D, !S
  return
}

// -----

!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<8x64xf16, #tile.shared<"128B">>
func.func @extents(%d: !D, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op the tile is larger than the buffer}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x2.b16"} : !D, !S
  return
}
