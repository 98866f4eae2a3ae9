// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!T = tensor<32x8xf16, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!R = tensor<32x8xf16, #tile.layout<"register [0,1] [0,2]; lane [0,4] [1,0] [2,0] [4,0] [8,0]; warp [16,0] -> row 32, col 8">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%a: !A) -> !B {
  // CHECK: tile.convert_layout %{{.*}} : !m16n8k16_c_f16_16x8xf16 -> !m16n8k16_b_f16_16x8xf16
  %0 = tile.convert_layout %a : !A -> !B
  return %0 : !B
}

// CHECK-LABEL: func.func @tensors(
func.func @tensors(%t: !T) -> !R {
  // CHECK: tile.convert_layout %{{.*}} : tensor<32x8xf16, #[[T:[A-Za-z0-9_]+]]> -> tensor<32x8xf16, #[[R:[A-Za-z0-9_]+]]>
  %0 = tile.convert_layout %t : !T -> !R
  return %0 : !R
}
