// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @rank(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{array must have rank 2, rows by columns, not 3}}
  tile.tma_scatter %m[%i, %i, %i, %i, %i] from %s[%i, %i, %i] shape [4, 64] : !M from !S
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @two_rows(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{shape must be array<i64: 4, COLUMNS>, with a number for each row, not array<i64: 2, 64>}}
  tile.tma_scatter %m[%i, %i, %i, %i, %i] from %s[%i, %i, %i] shape [2, 64] : !M from !S
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16>
func.func @buffer(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{buffer must be in the space #tile.shared}}
  tile.tma_scatter %m[%i, %i, %i, %i, %i] from %s[%i, %i, %i] shape [4, 64] : !M from !S
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @line(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{rows of a box are multiples of 16 bytes; these are of 8}}
  tile.tma_scatter %m[%i, %i, %i, %i, %i] from %s[%i, %i, %i] shape [4, 4] : !M from !S
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @im2col(%m: !M, %s: !S, %i: index) {
  // expected-error @below {{unknown attribute 'lower'}}
  tile.tma_scatter %m[%i, %i, %i, %i, %i] from %s[%i, %i, %i] shape [4, 64] {lower = array<i64: 0>} : !M from !S
  return
}
