// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @columns(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box has 1 to 256 columns, not 512}}
  tile.tma_prefetch %m[%i, %i, %i] shape [8, 512] : !M
  return
}
