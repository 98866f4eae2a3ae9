// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!A8 = !tile.frag<tensor<16x32xi8>, #tile.layout<"m16n8k32 a s8">>
!A32 = !tile.frag<tensor<16x8xtf32>, #tile.layout<"m16n8k8 a tf32">>
!S = memref<2x64x64xf16, #tile.shared<"128B">>

// CHECK-LABEL: func.func @halves(
func.func @halves(%m: !S, %i: index) {
  // CHECK: tile.ldmatrix %{{.*}}[%[[I:.*]], %[[I]], %[[I]]] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : memref<2x64x64xf16, #tile.shared<"128B">> -> !m16n8k16_a_f16_16x16xf16
  %0 = tile.ldmatrix %m[%i, %i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  // Memory holds B by rows of K: the instruction transposes.
  // CHECK: {form = "ldmatrix.sync.aligned.m8n8.x2.trans.b16"} : memref<2x64x64xf16, #tile.shared<"128B">> -> !m16n8k16_b_f16_16x8xf16
  %1 = tile.ldmatrix %m[%i, %i, %i] {form = "ldmatrix.sync.aligned.m8n8.x2.trans.b16"} : !S -> !B
  // Memory holds the transpose of B: it does not.
  // CHECK: transposed {form = "ldmatrix.sync.aligned.m8n8.x2.b16"} : memref<2x64x64xf16, #tile.shared<"128B">> -> !m16n8k16_b_f16_16x8xf16
  %2 = tile.ldmatrix %m[%i, %i, %i] transposed {form = "ldmatrix.sync.aligned.m8n8.x2.b16"}
      : !S -> !B
  return
}

// Elements of other widths go in twos and fours, or in halves.
// CHECK-LABEL: func.func @bytes_and_words(
func.func @bytes_and_words(%b: memref<16x64xi8, #tile.shared<"64B">>, %w: memref<16x32xf32, #tile.shared<"128B">>, %i: index) {
  // CHECK: {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : memref<16x64xi8, #tile.shared<"64B">> -> !m16n8k32_a_s8_16x32xi8
  %0 = tile.ldmatrix %b[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
      : memref<16x64xi8, #tile.shared<"64B">> -> !A8
  // CHECK: {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : memref<16x32xf32, #tile.shared<"128B">> -> !m16n8k8_a_tf32_16x8xtf32
  %1 = tile.ldmatrix %w[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
      : memref<16x32xf32, #tile.shared<"128B">> -> !A32
  return
}
