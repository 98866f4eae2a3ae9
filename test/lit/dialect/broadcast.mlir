// RUN: tile-opt %s | tile-opt | FileCheck %s

!E = !tile.frag<tensor<16x1xf32>, #tile.layout<"register [8,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0] -> row 16, col 1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!V = tensor<1x8xf32, #tile.layout<"register [0,1]; lane [0,2] [0,4] [0,0] [0,0] [0,0]; warp [0,0] -> row 1, col 8">>
!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%e: !E) -> !C {
  // CHECK: tile.broadcast %{{.*}} : !{{[A-Za-z0-9_]+}} -> !{{[A-Za-z0-9_]+}}
  %0 = tile.broadcast %e : !E -> !C
  return %0 : !C
}

// CHECK-LABEL: func.func @tensors(
func.func @tensors(%v: !V) -> !T {
  // CHECK: tile.broadcast %{{.*}} : tensor<1x8xf32, #{{.*}}> -> tensor<32x8xf32, #{{.*}}>
  %0 = tile.broadcast %v : !V -> !T
  return %0 : !T
}

// CHECK-LABEL: func.func @without_layouts(
func.func @without_layouts(%t: tensor<1x8x1xf16>) -> tensor<4x8x16xf16> {
  // CHECK: tile.broadcast %{{.*}} : tensor<1x8x1xf16> -> tensor<4x8x16xf16>
  %0 = tile.broadcast %t : tensor<1x8x1xf16> -> tensor<4x8x16xf16>
  return %0 : tensor<4x8x16xf16>
}
