// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!R = !tile.frag<tensor<16xf32>, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4] -> row 16">>
!K = !tile.frag<tensor<8xf32>, #tile.layout<"register [1]; lane [2] [4] [0] [0] [0] -> row 8">>
!T = tensor<32x8xi32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!V = tensor<8xi32, #tile.layout<"register [1]; lane [2] [4] [0] [0] [0]; warp [0] -> row 8">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%c: !C) -> (!R, !K) {
  // CHECK: tile.reduce arith.maximumf %{{.*}} axis 1 : ![[C:[A-Za-z0-9_]+]] -> !{{[A-Za-z0-9_]+}}
  %0 = tile.reduce arith.maximumf %c axis 1 : !C -> !R
  // CHECK: tile.reduce arith.addf %{{.*}} axis 0 : ![[C]] -> !{{[A-Za-z0-9_]+}}
  %1 = tile.reduce arith.addf %c axis 0 : !C -> !K
  return %0, %1 : !R, !K
}

// Over warps, then to a scalar.
// CHECK-LABEL: func.func @tensors(
func.func @tensors(%t: !T) -> i32 {
  // CHECK: tile.reduce arith.addi %{{.*}} axis 0 : tensor<32x8xi32, #{{.*}}> -> tensor<8xi32, #[[V:[A-Za-z0-9_]+]]>
  %0 = tile.reduce arith.addi %t axis 0 : !T -> !V
  // CHECK: tile.reduce arith.maxui %{{.*}} axis 0 : tensor<8xi32, #[[V]]> -> i32
  %1 = tile.reduce arith.maxui %0 axis 0 : !V -> i32
  return %1 : i32
}

// CHECK-LABEL: func.func @without_layouts(
func.func @without_layouts(%t: tensor<4x32x8xf16>) -> tensor<4x8xf16> {
  // CHECK: tile.reduce arith.mulf %{{.*}} axis 1 : tensor<4x32x8xf16> -> tensor<4x8xf16>
  %0 = tile.reduce arith.mulf %t axis 1 : tensor<4x32x8xf16> -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}
