// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @space() {
  // expected-error @below {{'tile.alloc_tensor' op buffer is a memref in #tile.tensor<"…">, not memref<128x64xf32>}}
  %d = tile.alloc_tensor : memref<128x64xf32>
  return
}

// -----

func.func @text() {
  // expected-error @below {{#tile.tensor<"c"> names nothing; legal: d, a, scale, each with cta_group::2 or ws after it}}
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
  // expected-error @below {{a buffer of a pair of CTAs wants cta_group = 2}}
  %d = tile.alloc_tensor : memref<256x64xf32, #tile.tensor<"d cta_group::2">>
  return
}
