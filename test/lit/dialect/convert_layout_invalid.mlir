// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!B = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
func.func @shape(%a: !A) {
  // expected-error @below {{'tile.convert_layout' op only the layout may change: !tile.frag<tensor<16x8xf16>}}
  %0 = tile.convert_layout %a : !A -> !B
  return
}

// -----

!A = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!B = !tile.frag<tensor<16x8xbf16>, #tile.layout<"m16n8k16 b bf16">>
func.func @element_type(%a: !A) {
  // expected-error @below {{'tile.convert_layout' op only the layout may change}}
  %0 = tile.convert_layout %a : !A -> !B
  return
}

// -----

!A = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!T = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
func.func @fragment_to_tensor(%a: !A) {
  // expected-error @below {{'tile.convert_layout' op only the layout may change}}
  %0 = tile.convert_layout %a : !A -> !T
  return
}

// -----

!T = tensor<16x8xf16, #tile.layout<"m16n8k16 c f16">>
!R = tensor<16x8xf16, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 16, col 8">>
func.func @warps(%t: !T) {
  // expected-error @below {{'tile.convert_layout' op the layouts are of 1 and 2 warps; all of a CTA's layouts have the same number}}
  %0 = tile.convert_layout %t : !T -> !R
  return
}

// -----

!T = tensor<16x8xf16, #tile.layout<"m16n8k16 c f16">>
func.func @source(%t: vector<4xf16>) {
  // expected-error @below {{'tile.convert_layout' op source must be a tensor with a #tile.layout encoding or a !tile.frag, not vector<4xf16>}}
  %0 = tile.convert_layout %t : vector<4xf16> -> !T
  return
}

// -----

!T = tensor<16x8xf16, #tile.layout<"m16n8k16 c f16">>
func.func @result(%t: !T) {
  // expected-error @below {{'tile.convert_layout' op result must be a tensor with a #tile.layout encoding or a !tile.frag, not vector<4xf16>}}
  %0 = tile.convert_layout %t : !T -> vector<4xf16>
  return
}
