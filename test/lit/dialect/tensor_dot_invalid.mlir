// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!C = tensor<128x128xf32>
func.func @form(%a: !A, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op operand b has 128 columns in memory of each of 2 CTAs, and C has 128}}
  %d = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!C = tensor<128x128xf32>
func.func @types(%a: !A, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op}}
  %d = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", transpose_b, types = "f32.f16.bf16", warps = array<i64: 4, 1>} : !A, !B, !C
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<1x64x64xf16, #tile.shared<"128B">>
!C = tensor<128x128xf32>
func.func @extents(%a: !A, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op operand b has 64 columns in memory, and C has 128}}
  %d = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
  return
}

// -----

!A = memref<1x192x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!C = tensor<192x128xf32>
func.func @rows(%a: !A, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op 192x128 of D is not a whole number of 128x128, as instructions have it}}
  %d = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
  return
}

// -----

!D = memref<1x1x128x128xf32, #tile.tensor<"d">>
func.func @load(%d: !D) {
  // expected-error @below {{'tile.tensor_load' op memref<1x1x128x128xf32, #tile.tensor<"d">> is of 1 matrix, a tile of 128x128, not tensor<64x128xf32>}}
  %x = tile.tensor_load %d {warps = array<i64: 4, 1>} : !D -> tensor<64x128xf32>
  return
}

// -----

!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @matrices(%d: !D) {
  // expected-error @below {{'tile.tensor_load' op is of the matrices of an accumulator, along M and N: memref<128x128xf32, #tile.tensor<"d">>}}
  %x = tile.tensor_load %d {warps = array<i64: 4, 1>} : !D -> tensor<128x128xf32>
  return
}

// -----

!D = memref<1x1x128x128xf32, #tile.tensor<"d">>
func.func @warps(%d: !D, %x: tensor<128x128xf32>) {
  // expected-error @below {{'tile.tensor_store' op warps must be array<i64: M, N>, powers of two, M a multiple of 4, not array<i64: 2, 2>}}
  tile.tensor_store %x, %d {warps = array<i64: 2, 2>} : tensor<128x128xf32>, !D
  return
}

// -----

!D = memref<1x1x128x128xf32, #tile.tensor<"d">>
!X = tensor<128x128xf32, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [0,64]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [64,0] [32,0] -> row 128, col 128">>
func.func @layout(%d: !D, %x: !X) {
  // expected-error @below {{'tile.tensor_store' op moves a tile of the layout 'register [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [0,64]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [32,0] [64,0] -> row 128, col 128', not}}
  tile.tensor_store %x, %d {warps = array<i64: 4, 1>} : !X, !D
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!C = tensor<128x128xf32>
func.func @left(%a: tensor<128x64xf16>, %b: !A, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op is made of products of one CTA with A in tensor memory, where a tile is stored, unlike tcgen05.mma.cta_group::1.kind::f16.a::descriptor}}
  %d = tile.tensor_dot %a, %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : tensor<128x64xf16>, !A, !C
  return
}

// -----

!B = memref<1x128x64xf16, #tile.shared<"128B">>
!C = tensor<64x128xf32>
func.func @rows(%a: tensor<64x64xf16>, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op 64 rows of A are not stored to tensor memory; legal: 128}}
  %d = tile.tensor_dot %a, %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::1.kind::f16.a::tensor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : tensor<64x64xf16>, !B, !C
  return
}

// -----

!A = memref<1x64x64xf16, #tile.shared<"128B">>
!B = memref<1x64x64xf16, #tile.shared<"128B">>
!C = tensor<64x128xf32>
func.func @rows_of_pair(%a: !A, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op 64x128 of D in each CTA is not for products of a pair; legal: a multiple of 128 rows, and 256 columns at most}}
  %d = tile.tensor_dot %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::2.kind::f16.a::descriptor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : !A, !B, !C
  return
}

// -----

!B = memref<1x64x64xf16, #tile.shared<"128B">>
!C = tensor<128x128xf32>
func.func @left_of_pair(%a: tensor<128x64xf16>, %b: !B, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot' op is made of products of one CTA with A in tensor memory, where a tile is stored, unlike tcgen05.mma.cta_group::2.kind::f16.a::tensor}}
  %d = tile.tensor_dot %a, %b[%c0, %c0, %c0], %c {form = "tcgen05.mma.cta_group::2.kind::f16.a::tensor", types = "f32.f16.f16", warps = array<i64: 4, 1>} : tensor<128x64xf16>, !B, !C
  return
}

// -----

!D = memref<1x1x128x64xf32, #tile.tensor<"d cta_group::2">>
func.func @load_of_pair(%d: !D) {
  // expected-error @below {{'tile.tensor_load' op is of a pair of CTAs; legal: accumulators of 256 rows, not memref<1x1x128x64xf32, #tile.tensor<"d cta_group::2">>}}
  %x = tile.tensor_load %d {warps = array<i64: 4, 1>} : !D -> tensor<64x64xf32>
  return
}
