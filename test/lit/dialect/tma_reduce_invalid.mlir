// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @function(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{'tile.tma_reduce' op fn is one of add, min, max, inc, dec, and, or, xor, not mul}}
  tile.tma_reduce mul %s[%i, %i, %i] to %m[%i, %i, %i] shape [32, 64] : !S to !M
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @rows(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{does not fill rows of the buffer's 64x64}}
  tile.tma_reduce add %s[%i, %i, %i] to %m[%i, %i, %i] shape [128, 64] : !S to !M
  return
}
