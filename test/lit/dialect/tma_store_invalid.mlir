// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @buffer(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{buffer must be in the space #tile.shared<"…">, not}}
  tile.tma_store %s[%i, %i, %i] to %m[%i, %i, %i] shape [64, 64] : !S to !M
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @indices(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the copy takes 6 indices, one a dimension, not 5}}
  "tile.tma_store"(%s, %m, %i, %i, %i, %i, %i) {shape = array<i64: 64, 64>} : (!S, !M, index, index, index, index, index) -> ()
  return
}
