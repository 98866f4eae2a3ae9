// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!V = !tile.frag<tensor<128xf32>, #tile.layout<"register [1] [64]; lane [2] [4] [8] [16] [32] -> row 128">>
!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!B = tensor<2x16x8xf32, #tile.layout<"register [0,0,1] [0,8,0]; lane [0,0,2] [0,0,4] [0,1,0] [0,2,0] [0,4,0]; warp [1,0,0] -> d0 2, row 16, col 8">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%c: !C) -> !V {
  // CHECK: tile.reshape %{{.*}} : !{{[A-Za-z0-9_]+}} -> !{{[A-Za-z0-9_]+}}
  %0 = tile.reshape %c : !C -> !V
  return %0 : !V
}

// CHECK-LABEL: func.func @tensors(
func.func @tensors(%t: !T) -> !B {
  // CHECK: tile.reshape %{{.*}} : tensor<32x8xf32, #{{.*}}> -> tensor<2x16x8xf32, #{{.*}}>
  %0 = tile.reshape %t : !T -> !B
  return %0 : !B
}

// CHECK-LABEL: func.func @without_layouts(
func.func @without_layouts(%t: tensor<8x4xi32>) -> tensor<32xi32> {
  // CHECK: tile.reshape %{{.*}} : tensor<8x4xi32> -> tensor<32xi32>
  %0 = tile.reshape %t : tensor<8x4xi32> -> tensor<32xi32>
  return %0 : tensor<32xi32>
}
