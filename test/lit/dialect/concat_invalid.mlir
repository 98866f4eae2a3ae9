// RUN: tile-opt %s --split-input-file --verify-diagnostics

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @none() {
  // expected-error @below {{'tile.concat' op takes one part or more}}
  %0 = "tile.concat"() : () -> !B
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
func.func @types(%b: !B, %c: !C) {
  // expected-error @below {{'tile.concat' op parts must be of one type}}
  %0 = "tile.concat"(%b, %c) : (!B, !C) -> !B
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!BB = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>
func.func @count(%b: !B) {
  // expected-error @below {{'tile.concat' op takes 2 parts, not 1}}
  %0 = tile.concat %b : !B -> !BB
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @layout(%b: !B) {
  // expected-error @below {{is not made of fragments of f16 with the layout 'register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 8'}}
  %0 = tile.concat %b, %b : !B -> !A
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @whole(%b: !B) {
  // expected-error @below {{'tile.concat' op takes tiles that either all have a layout or all have none: tensor<32x8xf16> and !tile.frag<}}
  %0 = tile.concat %b, %b : !B -> tensor<32x8xf16>
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @part(%x: f16) {
  // expected-error @below {{'tile.concat' op part must be a !tile.frag, not f16}}
  %0 = tile.concat %x : f16 -> !B
  return
}

// -----

func.func @units(%t: tensor<64x64xf16>) {
  // expected-error @below {{'tile.concat' op takes 3 parts, not 2}}
  %0 = tile.concat %t, %t : tensor<64x64xf16> -> tensor<64x192xf16>
  return
}
