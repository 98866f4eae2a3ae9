// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @space() {
  // expected-error @below {{'tile.alloc_tensor' op buffer is a memref in #tile.tensor<"…">, not memref<128x64xf32>}}
  %d = tile.alloc_tensor : memref<128x64xf32>
  return
}

// -----

func.func @text() {
  // expected-error @below {{#tile.tensor<"c"> is not a tensor memory layout; legal: d, a, scale, e, each with cta_group::2 or ws after it}}
  %d = tile.alloc_tensor : memref<128x64xf32, #tile.tensor<"c">>
  return
}

// -----

func.func @rows() {
  // expected-error @below {{tcgen05.mma has no D of 96 rows with cta_group::1}}
  %d = tile.alloc_tensor : memref<96x64xf32, #tile.tensor<"d">>
  return
}

// -----

func.func @columns() {
  // expected-error @below {{takes 768 columns of tensor memory, of which an SM has 512}}
  %d = tile.alloc_tensor : memref<3x128x256xf32, #tile.tensor<"d">>
  return
}

// -----

func.func @scales() {
  // expected-error @below {{scale factors are of 8 bits, 4 of a row, not 8 of 8 bits}}
  %d = tile.alloc_tensor : memref<128x8xi8, #tile.tensor<"scale">>
  return
}

// -----

func.func @dynamic() {
  // expected-error @below {{a buffer in tensor memory has a static shape of rank 2 or more}}
  %d = tile.alloc_tensor : memref<?x64xf32, #tile.tensor<"d">>
  return
}

// -----

func.func @pair() {
  // expected-error @below {{a buffer of a pair of CTAs needs cta_group = 2}}
  %d = tile.alloc_tensor : memref<256x64xf32, #tile.tensor<"d cta_group::2">>
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @columns(%slot: !Slot) {
  // expected-error @below {{'tile.tcgen05_alloc' op columns of an allocation are 32, 64, 128, 256, 512, not 96}}
  tile.tcgen05_alloc %slot columns 96 : !Slot
  return
}

// -----

!Slot = memref<1xi64, #tile.shared<"none">>
func.func @slot(%slot: !Slot) {
  // expected-error @below {{a slot is memref<1x1xi32, #tile.shared<"none">>, not memref<1xi64}}
  tile.tcgen05_alloc %slot columns 64 : !Slot
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @group(%slot: !Slot) {
  // expected-error @below {{cta_group is 1 or 2, not 4}}
  tile.tcgen05_alloc %slot columns 64 {cta_group = 4} : !Slot
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @columns(%slot: !Slot) {
  // expected-error @below {{'tile.tcgen05_dealloc' op columns of an allocation are 32, 64, 128, 256, 512, not 96}}
  tile.tcgen05_dealloc %slot columns 96 : !Slot
  return
}

// -----

!Slot = memref<1xi64, #tile.shared<"none">>
func.func @slot(%slot: !Slot) {
  // expected-error @below {{a slot is memref<1x1xi32, #tile.shared<"none">>, not memref<1xi64}}
  tile.tcgen05_dealloc %slot columns 64 : !Slot
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @group(%slot: !Slot) {
  // expected-error @below {{cta_group is 1 or 2, not 4}}
  tile.tcgen05_dealloc %slot columns 64 {cta_group = 4} : !Slot
  return
}

// -----

func.func @group() {
  // expected-error @below {{'tile.tcgen05_relinquish' op cta_group is 1 or 2, not 0}}
  tile.tcgen05_relinquish {cta_group = 0}
  return
}

// -----

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
