// RUN: tile-opt %s | tile-opt | FileCheck %s

!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>

// CHECK-LABEL: func.func @wait(
func.func @wait(%x: !F, %y: !F) -> (!F, !F) {
  // CHECK: %{{.*}}:2 = tile.tcgen05_wait_ld %{{.*}}, %{{.*}} : !{{.*}}, !{{.*}}
  %w:2 = tile.tcgen05_wait_ld %x, %y : !F, !F
  return %w#0, %w#1 : !F, !F
}
