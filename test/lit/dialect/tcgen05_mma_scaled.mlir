// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>

// CHECK-LABEL: func.func @mxf8(
func.func @mxf8(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %i: index, %more: i1) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.tcgen05_mma_scaled %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] scale %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] if %{{.*}} {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : {{.*}} scale memref<2x128x4xf8E8M0FNU, #{{.*}}>, memref<64x4xf8E8M0FNU, #{{.*}}>
  tile.tcgen05_mma_scaled %a[%c0, %c64], %b[%c0, %c64], %d[%c0, %c0] scale %sfa[%i, %c0, %c2], %sfb[%c0, %c2] if %more
      {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SA, !SB
  return
}

!A4 = memref<128x128xi8, #tile.shared<"128B">>
!B4 = memref<32x128xi8, #tile.shared<"128B">>
!D4 = memref<128x32xf32, #tile.tensor<"d">>
!S4 = memref<128x4xf8E4M3FN, #tile.tensor<"scale">>

// Two elements of 4 bits in a byte of shared memory, four scale factors of each row.
// CHECK-LABEL: func.func @nvf4(
func.func @nvf4(%a: !A4, %b: !B4, %d: !D4, %s: !S4) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %true = arith.constant true
  // CHECK: mxf4nvf4.block_scale.block16
  tile.tcgen05_mma_scaled %a[%c0, %c32], %b[%c0, %c32], %d[%c0, %c0] scale %s[%c0, %c0], %s[%c0, %c0] if %true
      {form = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16.a::descriptor", types = "f32.e2m1.e2m1"} : !A4, !B4, !D4 scale !S4, !S4
  return
}
