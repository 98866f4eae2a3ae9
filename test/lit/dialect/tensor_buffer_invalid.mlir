// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Slot = memref<1x1xi32, #tile.shared<"none">>
!D = memref<128x64xf32, #tile.tensor<"d">>
func.func @columns(%slot: !Slot) {
  // expected-error @below {{'tile.tensor_buffer' op takes columns 456 to 519; there are 512}}
  %d = tile.tensor_buffer %slot column 456 : !Slot -> !D
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @space(%slot: !Slot) {
  // expected-error @below {{buffer is a memref in #tile.tensor<"…">, not memref<128x64xf32>}}
  %d = tile.tensor_buffer %slot column 0 : !Slot -> memref<128x64xf32>
  return
}
