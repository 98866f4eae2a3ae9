// RUN: tile-opt %s --split-input-file --verify-diagnostics

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @index(%b: !B) {
  // expected-error @below {{'tile.slice' op index 1 is outside the 1 part}}
  %0 = tile.slice %b[1] : !B -> !B
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @negative(%b: !B) {
  // expected-error @below {{'tile.slice' op index -1 is outside the 1 part}}
  %0 = tile.slice %b[-1] : !B -> !B
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @layout(%a: !A) {
  // expected-error @below {{'tile.slice' op a fragment of f16 with the layout 'register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16' is not made of fragments of f16 with the layout 'register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 8'}}
  %0 = tile.slice %a[0] : !A -> !B
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!P = !tile.frag<tensor<8x8xbf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
func.func @element_type(%a: !A) {
  // expected-error @below {{is not made of fragments of bf16}}
  %0 = tile.slice %a[0] : !A -> !P
  return
}

// -----

!T = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @whole(%t: !T) {
  // expected-error @below {{'tile.slice' op a tile tensor<16x16xf16, }}
  %0 = tile.slice %t[0] : !T -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @part(%a: !A) {
  // expected-error @below {{'tile.slice' op part must be a !tile.frag, not tensor<16x16xf16>}}
  %0 = tile.slice %a[0] : !A -> tensor<16x16xf16>
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @attribute(%a: !A) {
  // expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.string'}}
  %0 = tile.slice %a["0"] : !A -> !A
  return
}

// -----

func.func @unit(%t: tensor<64x192xf16>) {
  // expected-error @below {{'tile.slice' op a tile tensor<64x192xf16> is made of units of 64x64xf16, with its layout, not of tensor<64x96xf16>}}
  %0 = tile.slice %t[0] : tensor<64x192xf16> -> tensor<64x96xf16>
  return
}

// -----

func.func @unit_number(%t: tensor<64x192xf16>) {
  // expected-error @below {{'tile.slice' op index 3 is outside the 3 parts}}
  %0 = tile.slice %t[3] : tensor<64x192xf16> -> tensor<64x64xf16>
  return
}
