// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @brackets(%g: memref<?x?xf16>, %i: index) {
  // expected-error @+2 {{custom op 'tile.load' expected '['}}
  // expected-note @+1 {{it is written: tile.load $source `[` $indices `]`}}
  %t = tile.load %g, %i, %i : memref<?x?xf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @order(%g: memref<?x?xf16>, %i: index) {
  // expected-error @+2 {{custom op 'tile.load' expected ':'}}
  // expected-note @+1 {{it is written}}
  %t = tile.load %g[%i, %i] transposed masked : memref<?x?xf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @twice(%g: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{duplicate key 'masked' in dictionary attribute}}
  %t = tile.load %g[%i, %i] masked {masked} : memref<?x?xf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @index(%g: memref<?x?xf16>, %i: i32) {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{use of value '%i' expects different type than prior uses: 'index' vs 'i32'}}
  %t = tile.load %g[%i, %i] : memref<?x?xf16> -> tensor<16x8xf16>
  return
}

// -----

func.func @copy(%g: memref<?x?xf16>, %s: memref<8x8xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @+2 {{expected a list of integers such as '[1, 0]'}}
  // expected-note @+1 {{it is written}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape 8x8 : memref<?x?xf16> to memref<8x8xf16, #tile.shared<"none">>
  return
}

// -----

func.func @verified(%g: memref<?x?xf16>, %i: index) {
  // expected-error @+1 {{the access takes 2 indices}}
  %t = tile.load %g[%i] : memref<?x?xf16> -> tensor<16x8xf16>
  return
}
