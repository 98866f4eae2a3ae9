// RUN: tile-opt %s | tile-opt | FileCheck %s

!Atoms = memref<4x32x16xi8, #tile.shared<"none">>
!Scales = memref<256x4xf8E8M0FNU, #tile.tensor<"scale">>
!Rows = memref<128x64xf16, #tile.shared<"128B">>
!A = memref<128x64xf16, #tile.tensor<"a">>

// CHECK-LABEL: func.func @scales(
func.func @scales(%x: !Atoms, %s: !Scales, %i: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  // CHECK: tile.tcgen05_cp %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : memref<4x32x16xi8, #{{.*}}> to memref<256x4xf8E8M0FNU, #{{.*}}>
  tile.tcgen05_cp %x[%i, %c0, %c0] to %s[%c128, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Atoms to !Scales
  return
}

// CHECK-LABEL: func.func @rows(
func.func @rows(%x: !Rows, %a: !A) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // CHECK: 128x256b
  tile.tcgen05_cp %x[%c0, %c16] to %a[%c0, %c16] {form = "tcgen05.cp.cta_group::1.128x256b"} : !Rows to !A
  return
}
