// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!Q = !tile.frag<tensor<4x8x4xf16>, #tile.layout<"m8n8k4 a f16 row">>
!T = tensor<32x8xf16, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>

// CHECK-LABEL: func.func @global(
func.func @global(%m: memref<?x?xf16>, %s: memref<8x16x16xf16, strided<[?, ?, 1], offset: ?>, 1>, %i: index) {
  // CHECK: tile.load %{{.*}}[%[[I:.*]], %[[I]]] : memref<?x?xf16> -> !m16n8k16_a_f16_16x16xf16
  %0 = tile.load %m[%i, %i] : memref<?x?xf16> -> !A
  // CHECK: masked transposed {vector = 8 : i64} : memref<?x?xf16> -> !m16n8k16_a_f16_16x16xf16
  %1 = tile.load %m[%i, %i] masked transposed {vector = 8} : memref<?x?xf16> -> !A
  // CHECK: memref<8x16x16xf16, strided<[?, ?, 1], offset: ?>, 1> -> !m16n8k16_a_f16_16x16xf16
  %2 = tile.load %s[%i, %i, %i] : memref<8x16x16xf16, strided<[?, ?, 1], offset: ?>, 1> -> !A
  // CHECK: memref<?x?xf16> -> tensor<32x8xf16, #c_m16n8_32x8_2x1>
  %3 = tile.load %m[%i, %i] : memref<?x?xf16> -> !T
  return
}

// A fragment of four products has three indices.
// CHECK-LABEL: func.func @products(
func.func @products(%m: memref<4x8x4xf16>, %i: index) {
  // CHECK: !m8n8k4_a_f16_row_4x8x4xf16
  %0 = tile.load %m[%i, %i, %i] : memref<4x8x4xf16> -> !Q
  return
}

// Of shared memory, the leading indices number the buffers.
// CHECK-LABEL: func.func @shared(
func.func @shared(%m: memref<2x3x64x32xf16, #tile.shared<"64B">>, %i: index) {
  // CHECK: tile.load %{{.*}}[%[[I:.*]], %[[I]], %[[I]], %[[I]]] transposed : memref<2x3x64x32xf16, #tile.shared<"64B">> -> !m16n8k16_a_f16_16x16xf16
  %0 = tile.load %m[%i, %i, %i, %i] transposed : memref<2x3x64x32xf16, #tile.shared<"64B">> -> !A
  return
}
