// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @source(%g: vector<8xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op source must be a ranked memref, not vector<8xf16>}}
  "tile.async_copy"(%g, %s, %i, %i, %i, %i) {shape = array<i64: 16, 16>} : (vector<8xf16>, memref<16x16xf16, #tile.shared<"none">>, index, index, index, index) -> ()
  return
}

// -----

func.func @target(%g: memref<?x?xf16>, %s: memref<*xf16>, %i: index) {
  // expected-error @below {{'tile.async_copy' op target must be a ranked memref, not memref<*xf16>}}
  "tile.async_copy"(%g, %s, %i, %i, %i, %i) {shape = array<i64: 16, 16>} : (memref<?x?xf16>, memref<*xf16>, index, index, index, index) -> ()
  return
}

// -----

func.func @indices(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op source and target takes 4 indices, one per dimension, not 3}}
  "tile.async_copy"(%g, %s, %i, %i, %i) {shape = array<i64: 16, 16>} : (memref<?x?xf16>, memref<16x16xf16, #tile.shared<"none">>, index, index, index) -> ()
  return
}

// -----

func.func @to_global(%g: memref<?x?xf16>, %s: memref<16x16xf16>, %i: index) {
  // expected-error @below {{'tile.async_copy' op target must be in the space #tile.shared<"…">, not memref<16x16xf16>}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 16] : memref<?x?xf16> to memref<16x16xf16>
  return
}

// -----

func.func @from_shared(%s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op source must be in global memory}}
  tile.async_copy %s[%i, %i] to %s[%i, %i] shape [16, 16]
      : memref<16x16xf16, #tile.shared<"none">> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @element_type(%g: memref<?x?xbf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op element types differ: bf16 and f16}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 16]
      : memref<?x?xbf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @kind_of_shape(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op shape must be array<i64: ROWS, COLUMNS>, not [16, 16]}}
  "tile.async_copy"(%g, %s, %i, %i, %i, %i) {shape = [16, 16]} : (memref<?x?xf16>, memref<16x16xf16, #tile.shared<"none">>, index, index, index, index) -> ()
  return
}

// -----

func.func @no_shape(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op attribute "shape" is expected but not provided}}
  "tile.async_copy"(%g, %s, %i, %i, %i, %i) : (memref<?x?xf16>, memref<16x16xf16, #tile.shared<"none">>, index, index, index, index) -> ()
  return
}

// -----

func.func @extents(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op shape has two extents, rows and columns, not 3}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [1, 16, 16]
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @no_power_of_two(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op copies rows of a power of two elements, or whole rows of 16 of the buffer, not [16, 12]}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 12]
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @rank(%g: memref<?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op source must have rank 2 or more, not 1}}
  tile.async_copy %g[%i] to %s[%i, %i] shape [16, 16]
      : memref<?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @too_large(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op shape 16x32 is larger than the buffer memref<16x16xf16, #tile.shared<"none">>}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 32]
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @sixteen_bytes(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op vector 16 of f16 is more than 16 bytes or than a row}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 16] {vector = 16}
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @row(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op vector 8 of f16 is more than 16 bytes or than a row}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 4] {vector = 8}
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @transposed(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op unknown attribute 'transposed'; legal: masked, shape, vector, warps}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 16] {transposed}
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @warps(%g: memref<?x?xf16>, %s: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.async_copy' op warps must be array<i64: FIRST, COUNT>, COUNT a power of two and FIRST a multiple of it, not array<i64: 5, 2>}}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [16, 16] {warps = array<i64: 5, 2>}
      : memref<?x?xf16> to memref<16x16xf16, #tile.shared<"none">>
  return
}
