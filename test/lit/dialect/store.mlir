// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>

// CHECK-LABEL: func.func @global(
func.func @global(%m: memref<?x?xf32>, %c: !C, %t: !T, %i: index) {
  // CHECK: tile.store %{{.*}}, %{{.*}}[%[[I:.*]], %[[I]]] : !m16n8k16_c_f32_16x8xf32, memref<?x?xf32>
  tile.store %c, %m[%i, %i] : !C, memref<?x?xf32>
  // CHECK: masked transposed {vector = 2 : i64} : !m16n8k16_c_f32_16x8xf32, memref<?x?xf32>
  tile.store %c, %m[%i, %i] masked transposed {vector = 2} : !C, memref<?x?xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : tensor<32x8xf32, #c_m16n8_32x8_2x1>, memref<?x?xf32>
  tile.store %t, %m[%i, %i] : !T, memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @shared(
func.func @shared(%m: memref<2x16x32xf32, #tile.shared<"128B">>, %c: !C, %i: index) {
  // CHECK: !m16n8k16_c_f32_16x8xf32, memref<2x16x32xf32, #tile.shared<"128B">>
  tile.store %c, %m[%i, %i, %i] : !C, memref<2x16x32xf32, #tile.shared<"128B">>
  return
}
