// RUN: tile-opt %s | tile-opt | FileCheck %s

!H = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!F = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%h: !H, %f: !F) -> (!H, !F, !I) {
  // CHECK: tile.inline_asm "ex2.approx.f16x2 $0, $1;", "=r,r"(%{{.*}}) {pack = 2 : i64} : (!m16n8k16_c_f16_16x8xf16) -> (!m16n8k16_c_f16_16x8xf16)
  %0 = tile.inline_asm "ex2.approx.f16x2 $0, $1;", "=r,r" (%h) {pack = 2 : i64} : (!H) -> (!H)
  // CHECK: %{{.*}}:2 = tile.inline_asm "{{.*}}", "=&f,=r,f,0"(%{{.*}}, %{{.*}}) : (!{{.*}}, !{{.*}}) -> (!{{.*}}, !{{.*}})
  %1:2 = tile.inline_asm "add.f32 $0, $2, $3; mov.b32 $1, $2;", "=&f,=r,f,0" (%f, %f) : (!F, !F) -> (!F, !I)
  return %0, %1#0, %1#1 : !H, !F, !I
}

// CHECK-LABEL: func.func @tiles(
func.func @tiles(%a: tensor<32x32xi8>, %b: tensor<32x32xf64>) {
  // CHECK: tile.inline_asm "mov.b16 $0, $1;", "=h,h"(%{{.*}}) {pack = 2 : i64} : (tensor<32x32xi8>) -> (tensor<32x32xi8>)
  %0 = tile.inline_asm "mov.b16 $0, $1;", "=h,h" (%a) {pack = 2 : i64} : (tensor<32x32xi8>) -> (tensor<32x32xi8>)
  // CHECK: tile.inline_asm "mov.b64 $0, $1; // $$", "=l,d"
  %1 = tile.inline_asm "mov.b64 $0, $1; // $$", "=l,d" (%b) : (tensor<32x32xf64>) -> (tensor<32x32xi64>)
  return
}
