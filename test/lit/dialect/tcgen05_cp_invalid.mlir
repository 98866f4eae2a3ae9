// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Atoms = memref<32x16xi8, #tile.shared<"none">>
!A = memref<128x64xf16, #tile.tensor<"a">>
func.func @target(%x: !Atoms, %a: !A, %i: index) {
  // expected-error @below {{tcgen05.cp.cta_group::1.32x128b.warpx4 goes to #tile.tensor<"scale">, not}}
  tile.tcgen05_cp %x[%i, %i] to %a[%i, %i] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Atoms to !A
  return
}

// -----

!Atoms = memref<32x16xi8, #tile.shared<"none">>
!Scales = memref<256x4xi8, #tile.tensor<"scale">>
func.func @row(%x: !Atoms, %s: !Scales, %i: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{goes to a row that is a constant multiple of 128, below 256}}
  tile.tcgen05_cp %x[%i, %i] to %s[%c64, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Atoms to !Scales
  return
}

// -----

!Atoms = memref<32x16xi8, #tile.shared<"none">>
!Scales = memref<128x4xi8, #tile.tensor<"scale">>
func.func @form(%x: !Atoms, %s: !Scales, %i: index) {
  // expected-error @below {{form is one of tcgen05.cp.cta_group::1.128x256b}}
  tile.tcgen05_cp %x[%i, %i] to %s[%i, %i] {form = "tcgen05.cp.cta_group::1.4x256b"} : !Atoms to !Scales
  return
}

// -----

!Short = memref<16x16xi8, #tile.shared<"none">>
!Scales = memref<128x4xi8, #tile.tensor<"scale">>
func.func @rows(%x: !Short, %s: !Scales) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{operand source of tcgen05.cp.cta_group::1.32x128b.warpx4 has 32 rows, more than the 16 rows of the memref's matrices}}
  tile.tcgen05_cp %x[%c0, %c0] to %s[%c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Short to !Scales
  return
}
