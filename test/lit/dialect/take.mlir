// RUN: tile-opt %s | tile-opt | FileCheck %s

!T = tensor<8x32xf16, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @steps(
func.func @steps(%p: tensor<8x32xi64>, %t: !T, %c: !C) {
  // CHECK: tile.take %{{.*}} axis 0 keep -4 flip 1 : tensor<8x32xi64> -> tensor<8x32xi64>
  %0 = tile.take %p axis 0 keep -4 flip 1 : tensor<8x32xi64> -> tensor<8x32xi64>
  // CHECK: tile.take %{{.*}} axis 1 keep -1 flip 31 : [[T:.*]] -> [[T]]
  %1 = tile.take %t axis 1 keep -1 flip 31 : !T -> !T
  // CHECK: tile.take %{{.*}} axis 1 keep 0 flip 0 : [[C:.*]] -> [[C]]
  %2 = tile.take %c axis 1 keep 0 flip 0 : !C -> !C
  return
}
