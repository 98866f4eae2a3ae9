// RUN: tile-opt %s --split-input-file --verify-diagnostics

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @unknown(%f: !F32) {
  // expected-error @below {{'tile.cast' op unknown cast 'arith.trunc'; nearest legal: arith.truncf, arith.trunci,}}
  %0 = "tile.cast"(%f) {fn = "arith.trunc"} : (!F32) -> !F16
  return
}

// -----

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @source(%f: !T) {
  // expected-error @below {{'tile.cast' op source must be a !tile.frag, not tensor<16x8xf32,}}
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!T) -> !F16
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @result(%f: !F32) {
  // expected-error @below {{'tile.cast' op result must be a !tile.frag, not tensor<16x8xf16>}}
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!F32) -> tensor<16x8xf16>
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!B16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @layout(%f: !F32) {
  // expected-error @below {{'tile.cast' op shape and layout must stay: !tile.frag<tensor<16x8xf32>}}
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!F32) -> !B16
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I32 = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
func.func @source_kind(%i: !I32) {
  // expected-error @below {{'tile.cast' op arith.fptosi goes from float to integer, not integer}}
  %0 = "tile.cast"(%i) {fn = "arith.fptosi"} : (!I32) -> !I32
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @result_kind(%f: !F32) {
  // expected-error @below {{'tile.cast' op arith.fptoui goes from float to integer, not float}}
  %0 = "tile.cast"(%f) {fn = "arith.fptoui"} : (!F32) -> !F32
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @truncf_widens(%f: !F16) {
  // expected-error @below {{'tile.cast' op arith.truncf does not take f16 to f32}}
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!F16) -> !F32
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @extf_narrows(%f: !F32) {
  // expected-error @below {{'tile.cast' op arith.extf does not take f32 to f16}}
  %0 = "tile.cast"(%f) {fn = "arith.extf"} : (!F32) -> !F16
  return
}

// -----

!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
func.func @extsi_stays(%i: !I) {
  // expected-error @below {{'tile.cast' op arith.extsi does not take i32 to i32}}
  %0 = "tile.cast"(%i) {fn = "arith.extsi"} : (!I) -> !I
  return
}

// -----

!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @bitcast_narrows(%i: !I) {
  // expected-error @below {{'tile.cast' op arith.bitcast does not take i32 to f16}}
  %0 = "tile.cast"(%i) {fn = "arith.bitcast"} : (!I) -> !F16
  return
}
