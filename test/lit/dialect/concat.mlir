// RUN: tile-opt %s | tile-opt | FileCheck %s

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!BB = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>

// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[P0:[A-Za-z0-9_]+]]: !m16n8k16_b_f16_16x8xf16, %[[P1:[A-Za-z0-9_]+]]: !m16n8k16_b_f16_16x8xf16)
func.func @parts(%0: !B, %1: !B) -> !BB {
  // CHECK: %[[W:.*]] = tile.concat %[[P0]], %[[P1]] : !m16n8k16_b_f16_16x8xf16 -> !frag_32x8xf16_8e47
  %w = tile.concat %0, %1 : !B -> !BB
  // CHECK: return %[[W]]
  return %w : !BB
}

// CHECK-LABEL: func.func @one(
func.func @one(%b: !B) {
  // CHECK: tile.concat %{{.*}} : !m16n8k16_b_f16_16x8xf16 -> !m16n8k16_b_f16_16x8xf16
  %w = tile.concat %b : !B -> !B
  return
}

// The units of a tile, rows of them one after the other.
!U = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
!T = tensor<48x24xf32, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @units(
func.func @units(%u: !U) -> !T {
  // CHECK: tile.concat {{(%[a-z0-9]+, ){8}%[a-z0-9]+}} : {{.*}} -> {{.*}}48x24
  %0 = tile.concat %u, %u, %u, %u, %u, %u, %u, %u, %u : !U -> !T
  return %0 : !T
}
