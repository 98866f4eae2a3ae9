// RUN: tile-opt %s --tile-promote-sums --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-promote-sums{fp8=true})' | FileCheck %s --check-prefix=ALL

!A = tensor<64x128xf8E4M3FN>
!B = tensor<128x64xf8E5M2>
!H = tensor<64x128xf16>
!G = tensor<128x64xf16>
!D = tensor<64x64xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @sums
  // ALL-LABEL: gpu.func @sums
  gpu.func @sums(%a: !A, %b: !B, %h: !H, %g: !G, %c: !D, %out: memref<64x64xf32>) {
    %c0 = arith.constant 0 : index
    // CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<64x64xf32>
    // CHECK-NEXT: %[[PART:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ZERO]] :
    // CHECK-NEXT: %[[ONE:.*]] = arith.addf %arg4, %[[PART]] : tensor<64x64xf32>
    // ALL: arith.addf
    // WHY: begins from zero, and is added in f32 after each 128 of K
    %one = tile.dot %a, %b, %c {tile.promote = true} : !A, !B, !D
    // CHECK-NEXT: %[[TWO:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[ONE]] :
    // ALL: tile.dot
    // ALL-NEXT: arith.addf
    %two = tile.dot %a, %b, %one : !A, !B, !D
    // CHECK-NEXT: %[[THREE:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[TWO]] :
    // ALL-NEXT: tile.dot
    // ALL-NOT: arith.addf
    %three = tile.dot %a, %b, %two {tile.promote = false} : !A, !B, !D
    // CHECK-NEXT: tile.dot %{{.*}}, %{{.*}}, %[[THREE]] :
    // WHY: is not promoted: its factors are not 8-bit floats
    %four = tile.dot %h, %g, %three {tile.promote = true} : !H, !G, !D
    tile.store %four, %out[%c0, %c0] : !D, memref<64x64xf32>
    gpu.return
  }
}
