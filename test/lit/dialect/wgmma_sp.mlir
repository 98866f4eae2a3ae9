// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k32 d f32 sparse">>
!E = !tile.frag<tensor<64x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] [32,0] -> row 64, col 16">>

// CHECK-LABEL: func.func @half_of_a(
func.func @half_of_a(%a: !A, %b: !B, %c: !D, %t: i1, %e: !E, %i: index) -> !D {
  // CHECK: %[[D:.*]] = tile.wgmma_sp %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}, %{{.*}} if %{{.*}} {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", selector = 1 : i64} : memref<64x32xf16, #{{.*}}>, memref<128x64xf16, #{{.*}}>, !{{.*}}, !{{.*}}
  %d = tile.wgmma_sp %a[%i, %i], %b[%i, %i], %c, %e if %t {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", selector = 1} : !A, !B, !D, !E
  // CHECK: return %[[D]]
  return %d : !D
}
