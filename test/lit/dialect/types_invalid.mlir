// RUN: tile-opt %s --split-input-file --verify-diagnostics

// What a layout's text, a fragment and a tensor with a layout may not be; told by the first op
// that looks at them.

!F = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16">>
func.func @too_few_words(%x: f16) {
  // expected-error @below {{'tile.fill' op layout 'm16n8k16' is neither a linear layout (register …; lane … -> row …, col …) nor a fragment (shape, operand and element type, as in 'm16n8k16 a f16')}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k17 a f16">>
func.func @unknown_shape(%x: f16) {
  // expected-error @below {{'tile.fill' op unknown shape 'm16n8k17'; nearest legal: m16n8k16,}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 x f16">>
func.func @unknown_operand(%x: f16) {
  // expected-error @below {{'tile.fill' op unknown operand 'x'}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f32">>
func.func @unknown_type(%x: f16) {
  // expected-error @below {{'tile.fill' op unknown type 'f32'}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<8x4xf16>, #tile.layout<"m8n8k4 a f16">>
func.func @ambiguous(%x: f16) {
  // expected-error @below {{'tile.fill' op operand a of m8n8k4 has more than one layout; give its major: row or col}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8">>
func.func @bad_linear_layout(%x: f16) {
  // expected-error @below {{'tile.fill' op a basis of 'register' has 2 numbers for 1 output}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @extents(%x: f16) {
  // expected-error @below {{'tile.fill' op layout 'm16n8k16 a f16' is of a 16x16 tile, not of tensor<16x8xf16>}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<?x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @dynamic_extent(%x: f16) {
  // expected-error @below {{'tile.fill' op layout 'm16n8k16 a f16' is of a 16x16 tile, not of tensor<?x16xf16>}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 8, col 8">>
func.func @fragment_over_warps(%x: f16) {
  // expected-error @below {{has inputs (register, lane, warp); here they are (register, lane)}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!T = tensor<8x8xf16, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; block -> row 8, col 8">>
func.func @unknown_input(%x: f16) {
  // expected-error @below {{has inputs (register, lane, block); here they are (register, lane, warp)}}
  %0 = tile.fill %x : f16 -> !T
  return
}

// -----

!F = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1] [4,0]; lane [0,2] [0,4] [1,0] [2,0] -> row 8, col 8">>
func.func @half_a_warp(%x: f16) {
  // expected-error @below {{has 16 lanes; a warp has 32}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = tensor<8x8xf16, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [0,0]; warp -> row 8, col 8">>
func.func @holes(%x: f16) {
  // expected-error @below {{assigns some elements of the tile to no lane}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

!F = !tile.frag<tensor<16x16xindex>, #tile.layout<"m16n8k16 a f16">>
func.func @no_numbers(%x: index) {
  // expected-error @below {{'tile.fill' op elements are integers or floating-point numbers, not index}}
  %0 = tile.fill %x : index -> !F
  return
}

// -----

!F = !tile.frag<tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>, #tile.layout<"m16n8k16 a f16">>
func.func @encoding_in_a_fragment(%x: f16) {
  // expected-error @below {{a fragment's layout is written after its tensor, not in it}}
  %0 = tile.fill %x : f16 -> !F
  return
}

// -----

// expected-error @below {{expected base type 'builtin.tensor' but got 'builtin.f16'}}
func.func private @fragment_of_a_scalar() -> !tile.frag<f16, #tile.layout<"m16n8k16 a f16">>
