// RUN: tile-opt %s | tile-opt | FileCheck %s

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!C = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>

// CHECK-LABEL: func.func @sums(
func.func @sums(%p: tensor<32x8xi32>, %t: !T, %c: !C, %i: memref<?x?xi32>, %g: memref<4x32x8xf32>, %h: memref<?x?xf16, strided<[?, 1]>>, %z: index) {
  // CHECK: tile.atomic arith.maxsi %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] masked : tensor<32x8xi32>, memref<?x?xi32>
  tile.atomic arith.maxsi %p, %i[%z, %z] masked : tensor<32x8xi32>, memref<?x?xi32>
  // CHECK: tile.atomic arith.addf %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<32x8xf32, #c_m16n8_32x8_2x1>, memref<4x32x8xf32>
  tile.atomic arith.addf %t, %g[%z, %z, %z] : !T, memref<4x32x8xf32>
  // CHECK: tile.atomic arith.addf %{{.*}}, %{{.*}}[%{{.*}}] transposed {vector = 2 : i64} : !m16n8k16_c_f16_16x8xf16, memref<?x?xf16, strided<[?, 1]>>
  tile.atomic arith.addf %c, %h[%z, %z] transposed {vector = 2 : i64}
      : !C, memref<?x?xf16, strided<[?, 1]>>
  return
}
