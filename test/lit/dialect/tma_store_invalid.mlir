// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @buffer(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{buffer must be in the space #tile.shared<"…">, not}}
  tile.tma_store %m[%i, %i, %i] from %s[%i, %i, %i] shape [64, 64] : !M from !S
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @indices(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the copy takes 6 indices, one per dimension, not 5}}
  "tile.tma_store"(%s, %m, %i, %i, %i, %i, %i) {shape = array<i64: 64, 64>} : (!S, !M, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?x?x?xf16>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @pixels(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{unknown attribute 'lower'}}
  tile.tma_store %m[%i, %i, %i, %i] from %s[%i, %i] shape [64, 64] {lower = array<i64: 0, 0>, upper = array<i64: 0, 0>} : !M from !S
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @element_strides(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{element_strides of the last dimension, whose elements are copied in rows, is 1, not 4}}
  tile.tma_store %m[%i, %i, %i] from %s[%i, %i] shape [64, 64] {element_strides = array<i64: 1, 1, 4>} : !M from !S
  return
}
