// RUN: tile-opt %s --split-input-file | tile-opt --split-input-file | FileCheck %s

!Half = memref<64x32xf16, #tile.shared<"64B">>
!Four = memref<8x16xi32, #tile.shared<"64B">>
!E = memref<128x16xi32, #tile.tensor<"e">>

// Rows go to two rows each, and four to each 32nd.
// CHECK-LABEL: func.func @lanes(
func.func @lanes(%x: !Half, %y: !Four, %e: !E) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c31 = arith.constant 31 : index
  // CHECK: tile.tcgen05_cp %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}] {form = "tcgen05.cp.cta_group::1.64x128b.warpx2::01_23"} : memref<64x32xf16, #{{.*}}> to memref<128x16xi32, #{{.*}}>
  tile.tcgen05_cp %x[%c0, %c8] to %e[%c0, %c8] {form = "tcgen05.cp.cta_group::1.64x128b.warpx2::01_23"} : !Half to !E
  // CHECK: 4x256b
  tile.tcgen05_cp %y[%c0, %c0] to %e[%c31, %c0] {form = "tcgen05.cp.cta_group::1.4x256b"} : !Four to !E
  return
}

// -----

!Rows = memref<64x64xf16, #tile.shared<"128B">>
!Pair = memref<128x64xf16, #tile.tensor<"a cta_group::2">>
!Few = memref<32x64xf16, #tile.shared<"128B">>
!Ws = memref<32x64xf16, #tile.tensor<"a ws">>

// A that stands in two and in four banks of lanes.
// CHECK-LABEL: func.func @banks(
func.func @banks(%x: !Rows, %a: !Pair, %y: !Few, %w: !Ws) {
  %c0 = arith.constant 0 : index
  // CHECK: tcgen05.cp.cta_group::2.64x128b.warpx2::02_13
  tile.tcgen05_cp %x[%c0, %c0] to %a[%c0, %c0] {form = "tcgen05.cp.cta_group::2.64x128b.warpx2::02_13"} : !Rows to !Pair
  // CHECK: tcgen05.cp.cta_group::1.32x128b.warpx4
  tile.tcgen05_cp %y[%c0, %c0] to %w[%c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Few to !Ws
  return
}

// -----

!Packed = memref<128x32xi8, #tile.shared<"32B">>
!A = memref<128x32xi8, #tile.tensor<"a">>

// CHECK-LABEL: func.func @bytes(
func.func @bytes(%x: !Packed, %a: !A) {
  %c0 = arith.constant 0 : index
  // CHECK: 128x256b.b8x16.b6x16_p32
  tile.tcgen05_cp %x[%c0, %c0] to %a[%c0, %c0] {form = "tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32"} : !Packed to !A
  return
}

// -----

!Image = memref<64x16xi8, #tile.shared<"none">>
!S = memref<256x4xf8E8M0FNU, #tile.tensor<"scale halves">>

// Factors of 256 columns of B for a pair with M = 128: half of them in each half of the lanes.
// CHECK-LABEL: func.func @halves(
func.func @halves(%x: !Image, %s: !S) {
  %c0 = arith.constant 0 : index
  // CHECK: {form = "tcgen05.cp.cta_group::2.64x128b.warpx2::01_23"} : memref<64x16xi8, #{{.*}}> to memref<256x4xf8E8M0FNU, #{{.*}}>
  tile.tcgen05_cp %x[%c0, %c0] to %s[%c0, %c0] {form = "tcgen05.cp.cta_group::2.64x128b.warpx2::01_23"} : !Image to !S
  return
}
