// RUN: tile-opt %s | tile-opt | FileCheck %s

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!C = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>

// CHECK-LABEL: func.func @sums(
func.func @sums(%p: tensor<32x8xi32>, %t: !T, %c: !C, %i: memref<?x?xi32>, %g: memref<4x32x8xf32>, %h: memref<?x?xf16, strided<[?, 1]>>, %z: index) {
  // CHECK: "tile.atomic"(%{{.*}}) {fn = "arith.maxsi", masked} : (tensor<32x8xi32>, memref<?x?xi32>, index, index) -> ()
  "tile.atomic"(%p, %i, %z, %z) {fn = "arith.maxsi", masked} : (tensor<32x8xi32>, memref<?x?xi32>, index, index) -> ()
  // CHECK: "tile.atomic"(%{{.*}}) {fn = "arith.addf"} : (tensor<32x8xf32, #layout>, memref<4x32x8xf32>, index, index, index) -> ()
  "tile.atomic"(%t, %g, %z, %z, %z) {fn = "arith.addf"} : (!T, memref<4x32x8xf32>, index, index, index) -> ()
  // CHECK: "tile.atomic"(%{{.*}}) {fn = "arith.addf", transposed, vector = 2 : i64} : (!frag, memref<?x?xf16, strided<[?, 1]>>, index, index) -> ()
  "tile.atomic"(%c, %h, %z, %z) {fn = "arith.addf", transposed, vector = 2 : i64} : (!C, memref<?x?xf16, strided<[?, 1]>>, index, index) -> ()
  return
}
