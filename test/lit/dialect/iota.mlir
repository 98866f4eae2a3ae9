// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k32 c s32">>
!T = tensor<128xi8, #tile.layout<"register [1] [2]; lane [4] [8] [16] [32] [64]; warp -> row 128">>

// CHECK-LABEL: func.func @indices(
func.func @indices() -> (!C, !T, tensor<4x256xi64>) {
  // CHECK: tile.iota axis 1 : !{{[A-Za-z0-9_]+}}
  %0 = tile.iota axis 1 : !C
  // CHECK: tile.iota axis 0 : tensor<128xi8, #{{.*}}>
  %1 = tile.iota axis 0 : !T
  // CHECK: tile.iota axis 1 : tensor<4x256xi64>
  %2 = tile.iota axis 1 : tensor<4x256xi64>
  return %0, %1, %2 : !C, !T, tensor<4x256xi64>
}
