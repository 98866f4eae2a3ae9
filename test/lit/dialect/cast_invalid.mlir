// RUN: tile-opt %s --split-input-file --verify-diagnostics

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @unknown(%f: !F32) {
  // expected-error @below {{'tile.cast' op unknown cast 'arith.trunc'; nearest legal: arith.truncf, arith.trunci,}}
  %0 = tile.cast arith.trunc %f : !F32 to !F16
  return
}

// -----

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @source(%f: !T) {
  // expected-error @below {{'tile.cast' op shape and layout must stay: tensor<16x8xf32,}}
  %0 = tile.cast arith.truncf %f : !T to !F16
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @result(%f: !F32) {
  // expected-error @below {{'tile.cast' op takes tiles that either all have a layout or all have none: tensor<16x8xf16> and}}
  %0 = tile.cast arith.truncf %f : !F32 to tensor<16x8xf16>
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!B16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @layout(%f: !F32) {
  // expected-error @below {{'tile.cast' op shape and layout must stay: !tile.frag<tensor<16x8xf32>}}
  %0 = tile.cast arith.truncf %f : !F32 to !B16
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I32 = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
func.func @source_kind(%i: !I32) {
  // expected-error @below {{'tile.cast' op arith.fptosi goes from float to integer, not integer}}
  %0 = tile.cast arith.fptosi %i : !I32 to !I32
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @result_kind(%f: !F32) {
  // expected-error @below {{'tile.cast' op arith.fptoui goes from float to integer, not float}}
  %0 = tile.cast arith.fptoui %f : !F32 to !F32
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @truncf_widens(%f: !F16) {
  // expected-error @below {{'tile.cast' op arith.truncf does not take f16 to f32}}
  %0 = tile.cast arith.truncf %f : !F16 to !F32
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @extf_narrows(%f: !F32) {
  // expected-error @below {{'tile.cast' op arith.extf does not take f32 to f16}}
  %0 = tile.cast arith.extf %f : !F32 to !F16
  return
}

// -----

!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
func.func @extsi_stays(%i: !I) {
  // expected-error @below {{'tile.cast' op arith.extsi does not take i32 to i32}}
  %0 = tile.cast arith.extsi %i : !I to !I
  return
}

// -----

!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @bitcast_narrows(%i: !I) {
  // expected-error @below {{'tile.cast' op arith.bitcast does not take i32 to f16}}
  %0 = tile.cast arith.bitcast %i : !I to !F16
  return
}

// -----

// 6 bits in a byte are fewer than 8.
!E4M3 = !tile.frag<tensor<16x8xf8E4M3FN>, #tile.layout<"m16n8k16 c f32">>
!E2M3 = !tile.frag<tensor<16x8x!tile.byte<f6E2M3FN>>, #tile.layout<"m16n8k16 c f32">>
func.func @convertf_narrows(%f: !E4M3) {
  // expected-error @below {{'tile.cast' op arith.convertf does not take f8E4M3FN to !tile.byte<f6E2M3FN>}}
  %0 = tile.cast arith.convertf %f : !E4M3 to !E2M3
  return
}

// -----

!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
func.func @convertf_stays(%f: !F16) {
  // expected-error @below {{'tile.cast' op arith.convertf does not take f16 to f16}}
  %0 = tile.cast arith.convertf %f : !F16 to !F16
  return
}

// -----

!E4M3 = !tile.frag<tensor<16x8xf8E4M3FN>, #tile.layout<"m16n8k16 c f32">>
!I8 = !tile.frag<tensor<16x8xi8>, #tile.layout<"m16n8k16 c f32">>
func.func @narrow_to_integer(%f: !E4M3) {
  // expected-error @below {{'tile.cast' op no conversion from f8E4M3FN to i8: f8E4M3FN is converted from and to other floats of at most 32 bits; go through f32}}
  %0 = tile.cast arith.fptosi %f : !E4M3 to !I8
  return
}

// -----

!F64 = !tile.frag<tensor<8x8xf64>, #tile.layout<"m8n8k4 c f64">>
!E5M2 = !tile.frag<tensor<8x8xf8E5M2>, #tile.layout<"m8n8k4 c f64">>
func.func @f64(%f: !F64) {
  // expected-error @below {{'tile.cast' op no conversion from f64 to f8E5M2: f8E5M2 is converted from and to other floats of at most 32 bits; go through f32}}
  %0 = tile.cast arith.truncf %f : !F64 to !E5M2
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E8M0 = !tile.frag<tensor<16x8xf8E8M0FNU>, #tile.layout<"m16n8k16 c f32">>
func.func @scales(%f: !F32) {
  // expected-error @below {{'tile.cast' op no conversion of f8E8M0FNU; legal floats: f64, f32, f16, bf16, tf32, f8E4M3FN, f8E5M2, f4E2M1FN, !tile.byte<f6E3M2FN>, !tile.byte<f6E2M3FN>, !tile.byte<f4E2M1FN>}}
  %0 = tile.cast arith.truncf %f : !F32 to !E8M0
  return
}

// -----

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E4M3 = !tile.frag<tensor<16x8xf8E4M3FN>, #tile.layout<"m16n8k16 c f32">>
func.func @rounding(%f: !F32) {
  // expected-error @below {{'tile.cast' op to f8E4M3FN there is one rounding mode: omit roundingmode}}
  %0 = tile.cast arith.truncf %f {roundingmode = 3 : i32} : !F32 to !E4M3
  return
}

// -----

func.func @shapes_of_tiles(%t: tensor<16x32xf32>) {
  // expected-error @below {{'tile.cast' op shape and layout must stay: tensor<16x32xf32> to tensor<32x16x!tile.byte<f6E2M3FN>>}}
  %0 = tile.cast arith.truncf %t : tensor<16x32xf32> to tensor<32x16x!tile.byte<f6E2M3FN>>
  return
}

// -----

func.func @scalar(%s: f32) {
  // expected-error @below {{'tile.cast' op source must be}}
  %0 = tile.cast arith.truncf %s : f32 to f16
  return
}
