// RUN: tile-opt %s | tile-opt | FileCheck %s

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>

// CHECK-LABEL: func.func @two(
func.func @two(%x: !D, %y: !D) -> (!D, !D) {
  // CHECK: %[[W:.*]]:2 = tile.wgmma_wait 1 %{{.*}}, %{{.*}} : !{{.*}}, !{{.*}}
  %d:2 = tile.wgmma_wait 1 %x, %y : !D, !D
  // CHECK: return %[[W]]#0, %[[W]]#1
  return %d#0, %d#1 : !D, !D
}

// CHECK-LABEL: func.func @none(
func.func @none() {
  // CHECK: tile.wgmma_wait 0
  tile.wgmma_wait 0
  return
}
