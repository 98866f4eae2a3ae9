// RUN: tile-opt %s | tile-opt | FileCheck %s

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
!I32 = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
!I8 = !tile.frag<tensor<16x8xi8>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @casts(
func.func @casts(%f: !F32) {
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.truncf"} : (!frag) -> !frag1
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!F32) -> !F16
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.extf"} : (!frag1) -> !frag
  %1 = "tile.cast"(%0) {fn = "arith.extf"} : (!F16) -> !F32
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.fptosi"} : (!frag) -> !frag2
  %2 = "tile.cast"(%1) {fn = "arith.fptosi"} : (!F32) -> !I32
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.fptoui"} : (!frag) -> !frag2
  %3 = "tile.cast"(%1) {fn = "arith.fptoui"} : (!F32) -> !I32
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.sitofp"} : (!frag2) -> !frag1
  %4 = "tile.cast"(%2) {fn = "arith.sitofp"} : (!I32) -> !F16
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.uitofp"} : (!frag2) -> !frag
  %5 = "tile.cast"(%2) {fn = "arith.uitofp"} : (!I32) -> !F32
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.trunci"} : (!frag2) -> !frag3
  %6 = "tile.cast"(%2) {fn = "arith.trunci"} : (!I32) -> !I8
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.extsi"} : (!frag3) -> !frag2
  %7 = "tile.cast"(%6) {fn = "arith.extsi"} : (!I8) -> !I32
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.extui"} : (!frag3) -> !frag2
  %8 = "tile.cast"(%6) {fn = "arith.extui"} : (!I8) -> !I32
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.bitcast"} : (!frag2) -> !frag
  %9 = "tile.cast"(%8) {fn = "arith.bitcast"} : (!I32) -> !F32
  return
}

// A layout may be written in two ways.
// CHECK-LABEL: func.func @spelling(
func.func @spelling(%f: !F32) {
  // CHECK: "tile.cast"(%{{.*}}) {fn = "arith.truncf"} : (!frag) -> !tile.frag<tensor<16x8xf16>, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!F32) -> !tile.frag<tensor<16x8xf16>, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
  return
}

!T32 = !tile.frag<tensor<16x8xtf32>, #tile.layout<"m16n8k16 c f32">>
!BF16 = !tile.frag<tensor<16x8xbf16>, #tile.layout<"m16n8k16 c f32">>
!E4M3 = !tile.frag<tensor<16x8xf8E4M3FN>, #tile.layout<"m16n8k16 c f32">>
!E5M2 = !tile.frag<tensor<16x8xf8E5M2>, #tile.layout<"m16n8k16 c f32">>
!E3M2 = !tile.frag<tensor<16x8x!tile.byte<f6E3M2FN>>, #tile.layout<"m16n8k16 c f32">>
!E2M3 = !tile.frag<tensor<16x8x!tile.byte<f6E2M3FN>>, #tile.layout<"m16n8k16 c f32">>
!E2M1 = !tile.frag<tensor<16x8x!tile.byte<f4E2M1FN>>, #tile.layout<"m16n8k16 c f32">>
!P2M1 = !tile.frag<tensor<16x8xf4E2M1FN>, #tile.layout<"m16n8k16 c f32">>

// What counts is the width of the number, not of the byte around it.
// CHECK-LABEL: func.func @narrow_floats(
func.func @narrow_floats(%f: !F32, %i: !I8) {
  // CHECK: {fn = "arith.truncf"} : (!frag) -> ![[T32:frag[0-9]+]]{{$}}
  %0 = "tile.cast"(%f) {fn = "arith.truncf"} : (!F32) -> !T32
  // CHECK: {fn = "arith.truncf"} : (![[T32]]) -> ![[BF16:frag[0-9]+]]{{$}}
  %1 = "tile.cast"(%0) {fn = "arith.truncf"} : (!T32) -> !BF16
  // CHECK: {fn = "arith.convertf"} : (![[BF16]]) -> !frag1{{$}}
  %2 = "tile.cast"(%1) {fn = "arith.convertf"} : (!BF16) -> !F16
  // CHECK: {fn = "arith.truncf"} : (!frag1) -> ![[E4M3:frag[0-9]+]]{{$}}
  %3 = "tile.cast"(%2) {fn = "arith.truncf"} : (!F16) -> !E4M3
  // CHECK: {fn = "arith.convertf"} : (![[E4M3]]) -> ![[E5M2:frag[0-9]+]]{{$}}
  %4 = "tile.cast"(%3) {fn = "arith.convertf"} : (!E4M3) -> !E5M2
  // CHECK: {fn = "arith.truncf"} : (![[E5M2]]) -> ![[E3M2:frag[0-9]+]]{{$}}
  %5 = "tile.cast"(%4) {fn = "arith.truncf"} : (!E5M2) -> !E3M2
  // CHECK: {fn = "arith.convertf"} : (![[E3M2]]) -> ![[E2M3:frag[0-9]+]]{{$}}
  %6 = "tile.cast"(%5) {fn = "arith.convertf"} : (!E3M2) -> !E2M3
  // CHECK: {fn = "arith.truncf"} : (![[E2M3]]) -> ![[E2M1:frag[0-9]+]]{{$}}
  %7 = "tile.cast"(%6) {fn = "arith.truncf"} : (!E2M3) -> !E2M1
  // The same number in a byte and packed.
  // CHECK: {fn = "arith.convertf"} : (![[E2M1]]) -> !tile.frag<tensor<16x8xf4E2M1FN>
  %8 = "tile.cast"(%7) {fn = "arith.convertf"} : (!E2M1) -> !P2M1
  // CHECK: {fn = "arith.bitcast"} : (!frag3) -> ![[E3M2]]{{$}}
  %9 = "tile.cast"(%i) {fn = "arith.bitcast"} : (!I8) -> !E3M2
  return
}
