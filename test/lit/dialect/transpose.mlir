// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!D = !tile.frag<tensor<8x16xf32>, #tile.layout<"register [1,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 16">>
!T = tensor<2x16x32xf16, #tile.layout<"register [0,1,0] [0,2,0] [1,0,0]; lane [0,0,1] [0,0,2] [0,0,4] [0,0,8] [0,0,16]; warp [0,4,0] [0,8,0] -> d0 2, row 16, col 32">>
!U = tensor<16x32x2xf16, #tile.layout<"register [0,0,1] [1,0,0] [2,0,0]; lane [0,1,0] [0,2,0] [0,4,0] [0,8,0] [0,16,0]; warp [4,0,0] [8,0,0] -> d0 16, row 32, col 2">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%c: !C) -> !D {
  // CHECK: tile.transpose %{{.*}} [1, 0] : !{{[A-Za-z0-9_]+}} -> !{{[A-Za-z0-9_]+}}
  %0 = tile.transpose %c [1, 0] : !C -> !D
  return %0 : !D
}

// The order of the registers may be another.
// CHECK-LABEL: func.func @tensors(
func.func @tensors(%t: !T) -> !U {
  // CHECK: tile.transpose %{{.*}} [1, 2, 0] : tensor<2x16x32xf16, #{{.*}}> -> tensor<16x32x2xf16, #{{.*}}>
  %0 = tile.transpose %t [1, 2, 0] : !T -> !U
  return %0 : !U
}

// CHECK-LABEL: func.func @without_layouts(
func.func @without_layouts(%t: tensor<8x4xi32>) -> tensor<4x8xi32> {
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<8x4xi32> -> tensor<4x8xi32>
  %0 = tile.transpose %t [1, 0] : tensor<8x4xi32> -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}
