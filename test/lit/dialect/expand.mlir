// RUN: tile-opt %s | tile-opt | FileCheck %s

!R = !tile.frag<tensor<16xf32>, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4] -> row 16">>
!E = !tile.frag<tensor<16x1xf32>, #tile.layout<"register [8,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0] -> row 16, col 1">>
!T = tensor<16x32xf16, #tile.layout<"register [1,0] [2,0]; lane [0,1] [0,2] [0,4] [0,8] [0,16]; warp [4,0] [8,0] -> row 16, col 32">>
!B = tensor<1x16x32xf16, #tile.layout<"register [0,1,0] [0,2,0]; lane [0,0,1] [0,0,2] [0,0,4] [0,0,8] [0,0,16]; warp [0,4,0] [0,8,0] -> d0 1, row 16, col 32">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%r: !R) -> !E {
  // CHECK: tile.expand %{{.*}} axis 1 : !{{[A-Za-z0-9_]+}} -> !{{[A-Za-z0-9_]+}}
  %0 = tile.expand %r axis 1 : !R -> !E
  return %0 : !E
}

// CHECK-LABEL: func.func @tensors(
func.func @tensors(%t: !T) -> !B {
  // CHECK: tile.expand %{{.*}} axis 0 : tensor<16x32xf16, #{{.*}}> -> tensor<1x16x32xf16, #{{.*}}>
  %0 = tile.expand %t axis 0 : !T -> !B
  return %0 : !B
}

// CHECK-LABEL: func.func @without_layouts(
func.func @without_layouts(%t: tensor<8x4xi32>) -> tensor<8x1x4xi32> {
  // CHECK: tile.expand %{{.*}} axis 1 : tensor<8x4xi32> -> tensor<8x1x4xi32>
  %0 = tile.expand %t axis 1 : tensor<8x4xi32> -> tensor<8x1x4xi32>
  return %0 : tensor<8x1x4xi32>
}
