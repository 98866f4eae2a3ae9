// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Rows = memref<128x16xi8, #tile.shared<"none">>
!Scales = memref<128x4xi8, #tile.tensor<"scale">>
func.func @form(%x: !Rows, %s: !Scales, %i: index) {
  // expected-error @below {{tcgen05.cp.cta_group::1.64x256b}}
  tile.tcgen05_cp %x[%i, %i] to %s[%i, %i] {form = "tcgen05.cp.cta_group::1.64x256b"} : !Rows to !Scales
  return
}

// -----

!Rows = memref<128x16xi8, #tile.shared<"none">>
!Scales = memref<128x4xi8, #tile.tensor<"scale">>
func.func @scales(%x: !Rows, %s: !Scales, %i: index) {
  // expected-error @below {{tcgen05.cp.cta_group::1.128x128b does not copy scale factors}}
  tile.tcgen05_cp %x[%i, %i] to %s[%i, %i] {form = "tcgen05.cp.cta_group::1.128x128b"} : !Rows to !Scales
  return
}

// -----

!Rows = memref<64x8xf16, #tile.shared<"none">>
!D = memref<64x64xf16, #tile.tensor<"a">>
func.func @rows(%x: !Rows, %d: !D, %i: index) {
  // expected-error @below {{64x128b.warpx2::02_13 goes to a buffer of 128 rows of a CTA, not}}
  tile.tcgen05_cp %x[%i, %i] to %d[%i, %i] {form = "tcgen05.cp.cta_group::1.64x128b.warpx2::02_13"} : !Rows to !D
  return
}

// -----

!Rows = memref<8x16xi32, #tile.shared<"64B">>
!E = memref<128x16xi32, #tile.tensor<"e">>
func.func @quarter(%x: !Rows, %e: !E) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-error @below {{goes to a constant row below 32, and each 32nd after it}}
  tile.tcgen05_cp %x[%c0, %c0] to %e[%c32, %c0] {form = "tcgen05.cp.cta_group::1.4x256b"} : !Rows to !E
  return
}

// -----

!Rows = memref<128x16xi8, #tile.shared<"none">>
!A = memref<128x16xf16, #tile.tensor<"a">>
func.func @bytes(%x: !Rows, %a: !A, %i: index) {
  // expected-error @below {{128x128b.b8x16.b4x16_p64 makes bytes, not elements of}}
  tile.tcgen05_cp %x[%i, %i] to %a[%i, %i] {form = "tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64"} : !Rows to !A
  return
}

// -----

!Image = memref<64x16xi8, #tile.shared<"none">>
!S = memref<128x4xf8E8M0FNU, #tile.tensor<"scale halves">>
func.func @halves(%x: !Image, %s: !S) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{tcgen05.cp.cta_group::2.64x128b.warpx2::01_23 does not copy scale factors: memref<128x4xf8E8M0FNU}}
  tile.tcgen05_cp %x[%c0, %c0] to %s[%c0, %c0] {form = "tcgen05.cp.cta_group::2.64x128b.warpx2::01_23"} : !Image to !S
  return
}

// -----

func.func @no_halves() {
  // expected-error @below {{is not a tensor memory layout; legal: d, a, scale, e, each with cta_group::2 or ws after it where it is for such products, and scale with halves}}
  %d = tile.alloc_tensor : memref<128x64xf32, #tile.tensor<"d halves">>
  return
}

// -----

func.func @halves_of_few() {
  // expected-error @below {{scale factors in halves are of 64, 128 or 256 rows, not of 192}}
  %s = tile.alloc_tensor : memref<192x4xi8, #tile.tensor<"scale halves">>
  return
}
