// RUN: tile-opt %s --split-input-file --verify-diagnostics

!I4 = !tile.frag<tensor<16x64xi4>, #tile.layout<"m16n8k64 a s4">>
func.func @memory_of_i4(%m: memref<16x64xi4>, %i: index) {
  // expected-error @below {{'tile.load' op element types differ: i4 in the tile, memref<16x64xi4> in memory; i4 is i8 in memory}}
  %0 = tile.load %m[%i, %i] : memref<16x64xi4> -> !I4
  return
}

// -----

!P6 = !tile.frag<tensor<16x32x!tile.byte<f6E3M2FN>>, #tile.layout<"m16n8k32 a e3m2">>
func.func @memory_of_f6(%m: memref<16x32xf6E3M2FN>, %i: index) {
  // expected-error @below {{'tile.load' op element types differ: !tile.byte<f6E3M2FN> in the tile, memref<16x32xf6E3M2FN> in memory; !tile.byte<f6E3M2FN> is i8 in memory}}
  %0 = tile.load %m[%i, %i] : memref<16x32xf6E3M2FN> -> !P6
  return
}

// -----

!T = !tile.frag<tensor<16x8xtf32>, #tile.layout<"m16n8k8 a tf32">>
func.func @memory_of_tf32(%m: memref<16x8xtf32>, %i: index) {
  // expected-error @below {{'tile.load' op element types differ: tf32 in the tile, memref<16x8xtf32> in memory; tf32 is f32 in memory}}
  %0 = tile.load %m[%i, %i] : memref<16x8xtf32> -> !T
  return
}

// -----

!E = !tile.frag<tensor<16x32xf8E5M2>, #tile.layout<"m16n8k32 a e5m2">>
func.func @another_float(%m: memref<16x32xf8E4M3FN>, %i: index) {
  // expected-error @below {{'tile.load' op element types differ: f8E5M2 in the tile, memref<16x32xf8E4M3FN> in memory}}
  %0 = tile.load %m[%i, %i] : memref<16x32xf8E4M3FN> -> !E
  return
}

// -----

// Two neighbours along K share a byte, and lie in one column of B.
!B4 = !tile.frag<tensor<64x8xi4>, #tile.layout<"m16n8k64 b s4">>
func.func @torn(%m: memref<64x4xi8>, %i: index) {
  // expected-error @below {{'tile.load' op 2 elements of i4 share a byte of memory, but the layout}}
  %0 = tile.load %m[%i, %i] : memref<64x4xi8> -> !B4
  return
}

// -----

!A4 = !tile.frag<tensor<16x64xi4>, #tile.layout<"m16n8k64 a s4">>
func.func @torn_store(%a: !A4, %m: memref<64x8xi8>, %i: index) {
  // expected-error @below {{'tile.store' op 2 elements of i4 share a byte of memory, but the layout}}
  tile.store %a, %m[%i, %i] transposed : !A4, memref<64x8xi8>
  return
}

// -----

// In units of memory the tile is 16 x 32.
!I4 = !tile.frag<tensor<16x64xi4>, #tile.layout<"m16n8k64 a s4">>
func.func @too_large(%m: memref<16x16xi8, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.load' op the tile is larger than the buffer memref<16x16xi8, #tile.shared<"none">>}}
  %0 = tile.load %m[%i, %i] : memref<16x16xi8, #tile.shared<"none">> -> !I4
  return
}
