// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @columns(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box has 1 to 256 columns, not 512}}
  tile.tma_prefetch %m[%i, %i, %i] shape [8, 512] : !M
  return
}

// -----

!M = memref<?x?x?xf16>
func.func @offsets(%m: !M, %i: index) {
  // expected-error @below {{the copy takes 4 indices, one per dimension, not 5}}
  "tile.tma_prefetch"(%m, %i, %i, %i, %i, %i) {shape = array<i64: 8, 64>, lower = array<i64: 0>, upper = array<i64: 0>} : (!M, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?x?xf16>
func.func @element_strides(%m: !M, %i: index) {
  // expected-error @below {{element_strides are 1 to 8; dimension 0 has 0}}
  tile.tma_prefetch %m[%i, %i, %i] shape [8, 64] {element_strides = array<i64: 0, 1, 1>} : !M
  return
}
