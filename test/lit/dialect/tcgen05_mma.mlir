// RUN: tile-opt %s --split-input-file | tile-opt --split-input-file | FileCheck %s

!A = memref<4x128x64xf16, #tile.shared<"128B">>
!B = memref<4x256x64xf16, #tile.shared<"128B">>
!D = memref<2x128x256xf32, #tile.tensor<"d">>
!P = memref<128x64xf16, #tile.tensor<"a">>
!V = memref<4x64x64xf16, #tile.shared<"128B">>
!O = memref<128x64xf32, #tile.tensor<"d">>
!A8 = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B8 = memref<24x128xf8E5M2, #tile.shared<"128B">>
!D8 = memref<128x24xf16, #tile.tensor<"d">>
!Pair = memref<256x256xf32, #tile.tensor<"d cta_group::2">>

// CHECK-LABEL: func.func @both_in_memory(
func.func @both_in_memory(%a: !A, %b: !B, %d: !D, %more: i1, %stage: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // CHECK: tile.tcgen05_mma %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] if %{{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : memref<4x128x64xf16, #{{.*}}>, memref<4x256x64xf16, #{{.*}}>, memref<2x128x256xf32, #{{.*}}>
  tile.tcgen05_mma %a[%stage, %c0, %c16], %b[%stage, %c0, %c16], %d[%c0, %c0, %c0] if %more
      {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !B, !D
  return
}

// A in tensor memory, and B with N contiguous.
// CHECK-LABEL: func.func @a_in_tensor_memory(
func.func @a_in_tensor_memory(%p: !P, %v: !V, %o: !O, %stage: index) {
  %c0 = arith.constant 0 : index
  %c48 = arith.constant 48 : index
  %true = arith.constant true
  // CHECK: tile.tcgen05_mma {{.*}}a::tensor", negate_a, transpose_b, types = "f32.f16.f16"}
  tile.tcgen05_mma %p[%c0, %c48], %v[%stage, %c48, %c0], %o[%c0, %c0] if %true
      {form = "tcgen05.mma.cta_group::1.kind::f16.a::tensor", types = "f32.f16.f16", negate_a, transpose_b} : !P, !V, !O
  return
}

// CHECK-LABEL: func.func @bytes(
func.func @bytes(%a: !A8, %b: !B8, %d: !D8) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %true = arith.constant true
  // CHECK: types = "f16.e4m3.e5m2"
  tile.tcgen05_mma %a[%c0, %c32], %b[%c0, %c32], %d[%c0, %c0] if %true
      {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f16.e4m3.e5m2"} : !A8, !B8, !D8
  return
}

// Each CTA of the pair has 128 rows of A and 128 columns of B.
// CHECK-LABEL: func.func @pair(
func.func @pair(%a: !A, %b: !A, %d: !Pair) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // CHECK: cta_group::2.kind::f16
  tile.tcgen05_mma %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %d[%c0, %c0] if %true
      {form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !Pair
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>

// CHECK-LABEL: func.func @mxf8(
func.func @mxf8(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %i: index, %more: i1) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.tcgen05_mma_scaled %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] scale %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] if %{{.*}} {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : {{.*}} scale memref<2x128x4xf8E8M0FNU, #{{.*}}>, memref<64x4xf8E8M0FNU, #{{.*}}>
  tile.tcgen05_mma_scaled %a[%c0, %c64], %b[%c0, %c64], %d[%c0, %c0] scale %sfa[%i, %c0, %c2], %sfb[%c0, %c2] if %more
      {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SA, !SB
  return
}

!A4 = memref<128x128xi8, #tile.shared<"128B">>
!B4 = memref<32x128xi8, #tile.shared<"128B">>
!D4 = memref<128x32xf32, #tile.tensor<"d">>
!S4 = memref<128x4xf8E4M3FN, #tile.tensor<"scale">>

// Two elements of 4 bits in a byte of shared memory, four scale factors of each row.
// CHECK-LABEL: func.func @nvf4(
func.func @nvf4(%a: !A4, %b: !B4, %d: !D4, %s: !S4) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %true = arith.constant true
  // CHECK: mxf4nvf4.block_scale.block16
  tile.tcgen05_mma_scaled %a[%c0, %c32], %b[%c0, %c32], %d[%c0, %c0] scale %s[%c0, %c0], %s[%c0, %c0] if %true
      {form = "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16.a::descriptor", types = "f32.e2m1.e2m1"} : !A4, !B4, !D4 scale !S4, !S4
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<256x256xf32, #tile.tensor<"d cta_group::2">>
!SA = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<256x4xf8E8M0FNU, #tile.tensor<"scale">>

// Each CTA of a pair has the scale factors of its own 128 rows of A, and of all columns of B.
// CHECK-LABEL: func.func @pair(
func.func @pair(%a: !A, %d: !D, %sfa: !SA, %sfb: !SB, %more: i1) {
  %c0 = arith.constant 0 : index
  // CHECK: cta_group::2.kind::mxf8f6f4
  tile.tcgen05_mma_scaled %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] scale %sfa[%c0, %c0], %sfb[%c0, %c0] if %more
      {form = "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !A, !D scale !SA, !SB
  return
}

// -----

!A = memref<4x128x32xf16, #tile.shared<"64B">>
!B = memref<4x256x64xf16, #tile.shared<"128B">>
!D = memref<128x256xf32, #tile.tensor<"d">>
!E = memref<128x4xi32, #tile.tensor<"e">>
!PairA = memref<128x64xi8, #tile.shared<"64B">>
!PairB = memref<64x128xi8, #tile.shared<"128B">>
!Pair = memref<256x128xi32, #tile.tensor<"d cta_group::2">>
!PairE = memref<256x4xi32, #tile.tensor<"e cta_group::2">>

// The second instruction along K: its metadata are in the odd column.
// CHECK-LABEL: func.func @sparse(
func.func @sparse(%a: !A, %b: !B, %d: !D, %e: !E, %more: i1, %stage: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  // CHECK: tile.tcgen05_mma_sp %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] metadata %{{.*}}[%{{.*}}, %{{.*}}] if %{{.*}} {form = "tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : memref<4x128x32xf16, #{{.*}}>, memref<4x256x64xf16, #{{.*}}>, memref<128x256xf32, #{{.*}}> metadata memref<128x4xi32, #{{.*}}>
  tile.tcgen05_mma_sp %a[%stage, %c0, %c16], %b[%stage, %c0, %c32], %d[%c0, %c0] metadata %e[%c0, %c1] if %more
      {form = "tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !B, !D metadata !E
  return
}

// CHECK-LABEL: func.func @sparse_pair(
func.func @sparse_pair(%a: !PairA, %b: !PairB, %d: !Pair, %e: !PairE, %more: i1) {
  %c0 = arith.constant 0 : index
  // CHECK: metadata memref<256x4xi32
  tile.tcgen05_mma_sp %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] metadata %e[%c0, %c0] if %more
      {form = "tcgen05.mma.sp.cta_group::2.kind::i8.a::descriptor", types = "s32.s8.u8"} : !PairA, !PairB, !Pair metadata !PairE
  return
}

// -----

!A = memref<128x64xi8, #tile.shared<"64B">>
!B = memref<64x128xi8, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!E = memref<128x4xi32, #tile.tensor<"e">>
!S = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>

// CHECK-LABEL: func.func @sparse_scaled(
func.func @sparse_scaled(%a: !A, %b: !B, %d: !D, %e: !E, %s: !S, %more: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: tile.tcgen05_mma_sp_scaled %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] metadata %{{.*}}[%{{.*}}, %{{.*}}] scale %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}] if %{{.*}} {form = "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e2m1"} : memref<128x64xi8, #{{.*}}>, memref<64x128xi8, #{{.*}}>, memref<128x64xf32, #{{.*}}> metadata memref<128x4xi32, #{{.*}}> scale memref<128x4xf8E8M0FNU, #{{.*}}>, memref<128x4xf8E8M0FNU, #{{.*}}>
  tile.tcgen05_mma_sp_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] metadata %e[%c0, %c2] scale %s[%c0, %c1], %s[%c0, %c0] if %more
      {form = "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e2m1"} : !A, !B, !D metadata !E scale !S, !S
  return
}

// -----

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<64x64xf16, #tile.shared<"128B">>
!D = memref<64x64xf32, #tile.tensor<"d ws">>
!E = memref<128x4xi32, #tile.tensor<"e ws">>

// Of 64 rows the metadata stand in both banks of lanes; every other column of B counts as 0.
// CHECK-LABEL: func.func @stationary(
func.func @stationary(%a: !A, %b: !B, %d: !D, %e: !E, %more: i1) {
  %c0 = arith.constant 0 : index
  // CHECK: {form = "tcgen05.mma.ws.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", zero_columns = 549755813888 : i64}
  tile.tcgen05_mma_sp %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] metadata %e[%c0, %c0] if %more
      {form = "tcgen05.mma.ws.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", zero_columns = 549755813888} : !A, !B, !D metadata !E
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<256x256xf32, #tile.tensor<"d cta_group::2">>

// CHECK-LABEL: func.func @options(
func.func @options(%a: !A, %d: !D, %more: i1) {
  %c0 = arith.constant 0 : index
  // CHECK: {exponent = 3 : i64, form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", keep_lanes = array<i32: -1, 0, 0, 0, 1, 0, 0, 0>, types = "f32.f16.f16"}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %more
      {form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", types = "f32.f16.f16", exponent = 3, keep_lanes = array<i32: -1, 0, 0, 0, 1, 0, 0, 0>} : !A, !A, !D
  return
}
