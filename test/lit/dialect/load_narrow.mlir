// RUN: tile-opt %s | tile-opt | FileCheck %s

// Elements of less than a byte are packed in `i8`, and the indices count bytes; narrow floats in
// bytes are `i8`, 8-bit floats their own type or `i8`; a tf32 is an f32.

!I4 = !tile.frag<tensor<16x64xi4>, #tile.layout<"m16n8k64 a s4">>
!B4 = !tile.frag<tensor<64x8xi4>, #tile.layout<"m16n8k64 b s4">>
!I1 = !tile.frag<tensor<16x256xi1>, #tile.layout<"m16n8k256 a b1">>
!F4 = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!P4 = !tile.frag<tensor<16x32x!tile.byte<f4E2M1FN>>, #tile.layout<"m16n8k32 a e2m1">>
!P6 = !tile.frag<tensor<16x32x!tile.byte<f6E3M2FN>>, #tile.layout<"m16n8k32 a e3m2">>
!E = !tile.frag<tensor<16x32xf8E5M2>, #tile.layout<"m16n8k32 a e5m2">>
!T = !tile.frag<tensor<16x8xtf32>, #tile.layout<"m16n8k8 a tf32">>

// CHECK-LABEL: func.func @below_a_byte(
func.func @below_a_byte(%m: memref<16x32xi8>, %n: memref<8x32xi8>, %i: index) {
  // CHECK: : memref<16x32xi8> -> !{{[A-Za-z0-9_]*}}16x64xi4
  %0 = tile.load %m[%i, %i] : memref<16x32xi8> -> !I4
  // B's neighbours along K share a byte: memory holds it by columns.
  // CHECK: transposed : memref<8x32xi8> -> !{{[A-Za-z0-9_]*}}64x8xi4
  %1 = tile.load %n[%i, %i] transposed : memref<8x32xi8> -> !B4
  // CHECK: {vector = 4 : i64} : memref<16x32xi8> -> !{{[A-Za-z0-9_]*}}16x256xi1
  %2 = tile.load %m[%i, %i] {vector = 4} : memref<16x32xi8> -> !I1
  // CHECK: !{{[A-Za-z0-9_]*}}16x64xf4E2M1FN
  %3 = tile.load %m[%i, %i] : memref<16x32xi8> -> !F4
  return
}

// CHECK-LABEL: func.func @bytes(
func.func @bytes(%m: memref<16x32xi8>, %e: memref<16x32xf8E5M2>, %f: memref<?x?xf32>, %i: index) {
  // CHECK: : memref<16x32xi8> -> !{{[A-Za-z0-9_]*}}16x32xbyte_f4E2M1FN
  %0 = tile.load %m[%i, %i] : memref<16x32xi8> -> !P4
  // CHECK: : memref<16x32xi8> -> !{{[A-Za-z0-9_]*}}16x32xbyte_f6E3M2FN
  %1 = tile.load %m[%i, %i] : memref<16x32xi8> -> !P6
  // CHECK: : memref<16x32xi8> -> !m16n8k32_a_e5m2_16x32xf8E5M2
  %2 = tile.load %m[%i, %i] : memref<16x32xi8> -> !E
  // CHECK: : memref<16x32xf8E5M2> -> !m16n8k32_a_e5m2_16x32xf8E5M2
  %3 = tile.load %e[%i, %i] : memref<16x32xf8E5M2> -> !E
  // CHECK: : memref<?x?xf32> -> !{{[A-Za-z0-9_]*}}16x8xtf32
  %4 = tile.load %f[%i, %i] masked : memref<?x?xf32> -> !T
  return
}
