// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?x?x?xf16>
func.func @rank(%m: !M, %i: index) {
  // expected-error @below {{array must have rank 2, rows by columns, not 5}}
  tile.tma_gather_prefetch %m[%i, %i, %i, %i, %i] shape [4, 64] : !M
  return
}

// -----

!M = memref<?x?xf16>
func.func @one_row(%m: !M, %i: index) {
  // expected-error @below {{shape must be array<i64: 4, COLUMNS>, with a number for each row, not array<i64: 1, 64>}}
  tile.tma_gather_prefetch %m[%i, %i, %i, %i, %i] shape [1, 64] : !M
  return
}

// -----

!M = memref<?x?xf16>
func.func @columns(%m: !M, %i: index) {
  // expected-error @below {{a box has 1 to 256 columns, not 264}}
  tile.tma_gather_prefetch %m[%i, %i, %i, %i, %i] shape [4, 264] : !M
  return
}
