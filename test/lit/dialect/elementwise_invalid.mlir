// RUN: tile-opt %s --split-input-file --verify-diagnostics

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @unknown(%a: !C) {
  // expected-error @below {{'tile.elementwise' op unknown elementwise op 'arith.addg'; nearest legal: arith.addi, arith.addf,}}
  %0 = tile.elementwise arith.addg %a, %a : !C
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @operands(%a: !C) {
  // expected-error @below {{'tile.elementwise' op arith.addf takes 2 operands, not 1}}
  %0 = tile.elementwise arith.addf %a : !C
  return
}

// -----

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @tensor(%a: !T) {
  // expected-error @below {{'tile.elementwise' op result must be a !tile.frag, not tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>}}
  %0 = tile.elementwise arith.negf %a : !T
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!H = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
func.func @types(%a: !C, %b: !H) {
  // expected-error @below {{'tile.elementwise' op operands and result must be of one type: !tile.frag<tensor<16x8xf16>}}
  %0 = "tile.elementwise"(%a, %b) {fn = "arith.addf"} : (!C, !H) -> !C
  return
}

// -----

!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k32 c s32">>
func.func @float_op_on_integers(%a: !I) {
  // expected-error @below {{'tile.elementwise' op arith.addf takes floating-point elements, not i32}}
  %0 = tile.elementwise arith.addf %a, %a : !I
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @integer_op_on_floats(%a: !C) {
  // expected-error @below {{'tile.elementwise' op math.absi takes integer elements, not f32}}
  %0 = tile.elementwise math.absi %a : !C
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @no_function(%a: !C) {
  // expected-error @below {{'tile.elementwise' op attribute "fn" is expected but not provided}}
  %0 = "tile.elementwise"(%a) : (!C) -> !C
  return
}

// -----

!E = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>
func.func @narrow_floats(%a: !E) {
  // expected-error @below {{'tile.elementwise' op no arithmetic on f8E4M3FN: cast it first; legal: integers, f64, f32, f16, bf16}}
  %0 = tile.elementwise arith.addf %a, %a : !E
  return
}

// -----

!P = !tile.frag<tensor<16x32x!tile.byte<f6E3M2FN>>, #tile.layout<"m16n8k32 a e3m2">>
func.func @bytes(%a: !P) {
  // expected-error @below {{'tile.elementwise' op no arithmetic on !tile.byte<f6E3M2FN>: cast it first; legal: integers, f64, f32, f16, bf16}}
  %0 = tile.elementwise arith.andi %a, %a : !P
  return
}
