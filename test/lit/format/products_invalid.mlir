// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{unknown operand 'a, m16k17, b16'; nearest legal: a, m16k16, b16}}
!A = !tile.frag<tensor<16x16xf16>, #tile.operand<a, m16k17, b16>>

// -----

// expected-error @+1 {{'a; m16k16' names no operand; legal: 'a, m16k16, b16' or 'c, m16n8, 128x64, warps 4x2'}}
func.func private @f(tensor<16x16xf16, #tile.operand<a; m16k16>>)

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>
func.func @types(%a: !C) {
  // expected-error @+2 {{custom op 'tile.mma' expected ','}}
  // expected-note @+1 {{it is written}}
  %d = tile.mma %a, %a, %a {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !C -> !C
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>
func.func @keyword(%a: !C) {
  // expected-error @+2 {{custom op 'tile.elementwise' expected keyword or string}}
  // expected-note @+1 {{it is written}}
  %d = tile.elementwise %a, %a {fn = "arith.addf"} : !C
  return
}

// -----

func.func @list(%x: tensor<8x8xf16>) {
  // expected-error @+1 {{permutation must be array<i64: …> with each of 0 to 1 once}}
  %r = tile.transpose %x [1, 1] : tensor<8x8xf16> -> tensor<8x8xf16>
  return
}

// -----

func.func @unknown(%x: tensor<8x8xf16>) {
  // expected-error @+1 {{unknown operation 'tile.transpos'; nearest: tile.transpose}}
  %r = tile.transpos %x [1, 0] : tensor<8x8xf16> -> tensor<8x8xf16>
  return
}
