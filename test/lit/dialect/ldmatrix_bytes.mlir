// RUN: tile-opt %s | tile-opt | FileCheck %s

// The shapes of 8-bit elements: m16n16, which transposes, and those that unpack.

#ROW = #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">
#COL = #tile.layout<"register [1,0] [2,0] [0,8]; lane [4,0] [8,0] [0,1] [0,2] [0,4] -> row 16, col 16">
!S = memref<32x32xi8, #tile.shared<"none">>

// CHECK-LABEL: func.func @transposing(
func.func @transposing(%m: !S, %i: index) {
  // CHECK: {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"} : {{.*}} -> !{{[A-Za-z0-9_]*}}16x16xi8
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"}
      : !S -> !tile.frag<tensor<16x16xi8>, #COL>
  // CHECK: {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"} : {{.*}} -> !{{[A-Za-z0-9_]*}}16x16xf8E4M3FN
  %1 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"}
      : !S -> !tile.frag<tensor<16x16xf8E4M3FN>, #COL>
  return
}

// CHECK-LABEL: func.func @unpacking(
func.func @unpacking(%m: !S, %i: index) {
  // CHECK: {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"} : {{.*}} -> !{{[A-Za-z0-9_]*}}8x16xi8
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"}
      : !S -> !tile.frag<tensor<8x16xi8>, #ROW>
  // CHECK: {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"} : {{.*}} -> !{{[A-Za-z0-9_]*}}8x16xbyte_f4E2M1FN
  %1 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"}
      : !S -> !tile.frag<tensor<8x16x!tile.byte<f4E2M1FN>>, #ROW>
  // CHECK: {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32"} : {{.*}} -> !{{[A-Za-z0-9_]*}}8x16xbyte_f6E2M3FN
  %2 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32"}
      : !S -> !tile.frag<tensor<8x16x!tile.byte<f6E2M3FN>>, #ROW>
  // CHECK: {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b6x16_p32"} : {{.*}} -> !{{[A-Za-z0-9_]*}}16x16xbyte_f6E3M2FN
  %3 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8x16.b6x16_p32"}
      : !S -> !tile.frag<tensor<16x16x!tile.byte<f6E3M2FN>>, #COL>
  return
}
