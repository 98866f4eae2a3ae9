// RUN: tile-opt %s | tile-opt | FileCheck %s

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!A = !tile.frag<tensor<64x16xf16>, #tile.layout<"m64n128k16 a f16">>

// CHECK-LABEL: func.func @order(
func.func @order(%d: !D, %e: !D, %a: !A) -> (!D, !D, !A) {
  // CHECK: %[[O:.*]]:2 = tile.wgmma_fence %{{.*}}, %{{.*}} : !{{.*}}, !{{.*}}
  %o:2 = tile.wgmma_fence %d, %e : !D, !D
  // CHECK: %[[A:.*]] = tile.wgmma_fence %{{.*}} : !{{.*}}
  %p = tile.wgmma_fence %a : !A
  // CHECK: return %[[O]]#0, %[[O]]#1, %[[A]]
  return %o#0, %o#1, %p : !D, !D, !A
}
