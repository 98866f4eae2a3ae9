// RUN: tile-opt %s | tile-opt | FileCheck %s

// Two fragments of B side by side along K, as one ldmatrix x4 loads them.
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!BB = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>

// CHECK-LABEL: func.func @parts(
func.func @parts(%w: !BB) -> (!B, !B) {
  // CHECK: %[[P0:.*]] = tile.slice %[[W:.*]][0] : !frag_32x8xf16_8e47 -> !m16n8k16_b_f16_16x8xf16
  %0 = tile.slice %w[0] : !BB -> !B
  // CHECK: %[[P1:.*]] = tile.slice %[[W]][1] : !frag_32x8xf16_8e47 -> !m16n8k16_b_f16_16x8xf16
  %1 = tile.slice %w[1] : !BB -> !B
  // CHECK: return %[[P0]], %[[P1]]
  return %0, %1 : !B, !B
}

// The whole is a part of itself.
// CHECK-LABEL: func.func @whole(
func.func @whole(%b: !B) {
  // CHECK: tile.slice %{{.*}}[0] : !m16n8k16_b_f16_16x8xf16 -> !m16n8k16_b_f16_16x8xf16
  %0 = tile.slice %b[0] : !B -> !B
  return
}

// CHECK-LABEL: func.func @unit(
func.func @unit(%t: tensor<64x192xf16>) -> tensor<64x64xf16> {
  // CHECK: tile.slice %{{.*}}[2] : tensor<64x192xf16> -> tensor<64x64xf16>
  %0 = tile.slice %t[2] : tensor<64x192xf16> -> tensor<64x64xf16>
  return %0 : tensor<64x64xf16>
}
