// RUN: tile-opt %s | tile-opt | FileCheck %s

!F32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!F16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f32">>
!I32 = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
!I8 = !tile.frag<tensor<16x8xi8>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @casts(
func.func @casts(%f: !F32) {
  // CHECK: tile.cast arith.truncf %{{.*}} : !m16n8k16_c_f32_16x8xf32 to !m16n8k16_c_f32_16x8xf16
  %0 = tile.cast arith.truncf %f : !F32 to !F16
  // CHECK: tile.cast arith.extf %{{.*}} : !m16n8k16_c_f32_16x8xf16 to !m16n8k16_c_f32_16x8xf32
  %1 = tile.cast arith.extf %0 : !F16 to !F32
  // CHECK: tile.cast arith.fptosi %{{.*}} : !m16n8k16_c_f32_16x8xf32 to !m16n8k16_c_f32_16x8xi32
  %2 = tile.cast arith.fptosi %1 : !F32 to !I32
  // CHECK: tile.cast arith.fptoui %{{.*}} : !m16n8k16_c_f32_16x8xf32 to !m16n8k16_c_f32_16x8xi32
  %3 = tile.cast arith.fptoui %1 : !F32 to !I32
  // CHECK: tile.cast arith.sitofp %{{.*}} : !m16n8k16_c_f32_16x8xi32 to !m16n8k16_c_f32_16x8xf16
  %4 = tile.cast arith.sitofp %2 : !I32 to !F16
  // CHECK: tile.cast arith.uitofp %{{.*}} : !m16n8k16_c_f32_16x8xi32 to !m16n8k16_c_f32_16x8xf32
  %5 = tile.cast arith.uitofp %2 : !I32 to !F32
  // CHECK: tile.cast arith.trunci %{{.*}} : !m16n8k16_c_f32_16x8xi32 to !m16n8k16_c_f32_16x8xi8
  %6 = tile.cast arith.trunci %2 : !I32 to !I8
  // CHECK: tile.cast arith.extsi %{{.*}} : !m16n8k16_c_f32_16x8xi8 to !m16n8k16_c_f32_16x8xi32
  %7 = tile.cast arith.extsi %6 : !I8 to !I32
  // CHECK: tile.cast arith.extui %{{.*}} : !m16n8k16_c_f32_16x8xi8 to !m16n8k16_c_f32_16x8xi32
  %8 = tile.cast arith.extui %6 : !I8 to !I32
  // CHECK: tile.cast arith.bitcast %{{.*}} : !m16n8k16_c_f32_16x8xi32 to !m16n8k16_c_f32_16x8xf32
  %9 = tile.cast arith.bitcast %8 : !I32 to !F32
  return
}

// A layout may be written in two ways.
// CHECK-LABEL: func.func @spelling(
func.func @spelling(%f: !F32) {
  // CHECK: tile.cast arith.truncf %{{.*}} : !m16n8k16_c_f32_16x8xf32 to !c_16x8xf16
  %0 = tile.cast arith.truncf %f : !F32 to !tile.frag<tensor<16x8xf16>, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
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
  // CHECK: arith.truncf %{{.*}} : !m16n8k16_c_f32_16x8xf32 to ![[T32:[A-Za-z0-9_]+]]{{$}}
  %0 = tile.cast arith.truncf %f : !F32 to !T32
  // CHECK: arith.truncf %{{.*}} : ![[T32]] to ![[BF16:[A-Za-z0-9_]+]]{{$}}
  %1 = tile.cast arith.truncf %0 : !T32 to !BF16
  // CHECK: arith.convertf %{{.*}} : ![[BF16]] to !m16n8k16_c_f32_16x8xf16{{$}}
  %2 = tile.cast arith.convertf %1 : !BF16 to !F16
  // CHECK: arith.truncf %{{.*}} : !m16n8k16_c_f32_16x8xf16 to ![[E4M3:[A-Za-z0-9_]+]]{{$}}
  %3 = tile.cast arith.truncf %2 : !F16 to !E4M3
  // CHECK: arith.convertf %{{.*}} : ![[E4M3]] to ![[E5M2:[A-Za-z0-9_]+]]{{$}}
  %4 = tile.cast arith.convertf %3 : !E4M3 to !E5M2
  // CHECK: arith.truncf %{{.*}} : ![[E5M2]] to ![[E3M2:[A-Za-z0-9_]+]]{{$}}
  %5 = tile.cast arith.truncf %4 : !E5M2 to !E3M2
  // CHECK: arith.convertf %{{.*}} : ![[E3M2]] to ![[E2M3:[A-Za-z0-9_]+]]{{$}}
  %6 = tile.cast arith.convertf %5 : !E3M2 to !E2M3
  // CHECK: arith.truncf %{{.*}} : ![[E2M3]] to ![[E2M1:[A-Za-z0-9_]+]]{{$}}
  %7 = tile.cast arith.truncf %6 : !E2M3 to !E2M1
  // The same number in a byte and packed.
  // CHECK: arith.convertf %{{.*}} : ![[E2M1]] to !{{[A-Za-z0-9_]*}}16x8xf4E2M1FN
  %8 = tile.cast arith.convertf %7 : !E2M1 to !P2M1
  // CHECK: arith.bitcast %{{.*}} : !m16n8k16_c_f32_16x8xi8 to ![[E3M2]]{{$}}
  %9 = tile.cast arith.bitcast %i : !I8 to !E3M2
  return
}

// CHECK-LABEL: func.func @tiles(
// CHECK: tile.cast arith.extf %{{.*}} : tensor<16x32x!tile.byte<f6E2M3FN>> to tensor<16x32xf32>
func.func @tiles(%t: tensor<16x32x!tile.byte<f6E2M3FN>>) -> tensor<16x32xf32> {
  %0 = tile.cast arith.extf %t : tensor<16x32x!tile.byte<f6E2M3FN>> to tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}
