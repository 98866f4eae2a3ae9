// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<1x128x128xf8E4M3FN, #tile.shared<"128B">>
!S = memref<1x128x4xi8, #tile.shared<"none">>
!SB = memref<1x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!C = tensor<128x128xf32>
func.func @order(%a: !A, %sa: !S, %sb: !SB, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot_scaled' op operand sfa has 128 rows of 4 factors in the order of tcgen05.cp, not memref<1x128x4xi8, #tile.shared<"none">>}}
  %d = tile.tensor_dot_scaled %a[%c0, %c0, %c0], %a[%c0, %c0, %c0], %c scale %sa[%c0, %c0, %c0], %sb[%c0, %c0, %c0] {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 1>} : !A, !A, !C scale !S, !SB
  return
}

// -----

!A = memref<2x128x128xf8E4M3FN, #tile.shared<"128B">>
!S = memref<2x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!SB = memref<1x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!C = tensor<128x128xf32>
func.func @few(%a: !A, %sa: !S, %sb: !SB, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot_scaled' op operand sfb has 4 factors of a row in memory, and K takes 8}}
  %d = tile.tensor_dot_scaled %a[%c0, %c0, %c0], %a[%c0, %c0, %c0], %c scale %sa[%c0, %c0, %c0], %sb[%c0, %c0, %c0] {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 1>} : !A, !A, !C scale !S, !SB
  return
}

// -----

!A = memref<1x128x128xf8E4M3FN, #tile.shared<"128B">>
!S = memref<1x128x4xf32, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!C = tensor<128x128xf32>
func.func @elements(%a: !A, %sa: !S, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot_scaled' op operand sfa has elements of type f8E8M0FNU or i8, not f32}}
  %d = tile.tensor_dot_scaled %a[%c0, %c0, %c0], %a[%c0, %c0, %c0], %c scale %sa[%c0, %c0, %c0], %sa[%c0, %c0, %c0] {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 1>} : !A, !A, !C scale !S, !S
  return
}

// -----

!A = memref<1x128x128xf8E4M3FN, #tile.shared<"128B">>
!S = memref<1x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!C = tensor<128x128xf32>
func.func @form(%a: !A, %sa: !S, %c: !C) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot_scaled' op tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor is the form of a tile.tcgen05_mma}}
  %d = tile.tensor_dot_scaled %a[%c0, %c0, %c0], %a[%c0, %c0, %c0], %c scale %sa[%c0, %c0, %c0], %sa[%c0, %c0, %c0] {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 1>} : !A, !A, !C scale !S, !S
  return
}

// -----

!S = memref<2x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!T = memref<128x4xi8, #tile.tensor<"scale">>
func.func @piece(%s: !S, %t: !T, %row: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tcgen05_cp' op copies the factors of 128 rows, from a constant multiple of that below 128 on, and from column 0}}
  tile.tcgen05_cp %s[%c0, %row, %c0] to %t[%c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !S to !T
  return
}

// -----

!A = memref<1x128x128xf8E4M3FN, #tile.shared<"128B">>
!S = memref<1x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!C = tensor<128x128xf32>
func.func @begins(%a: !A, %sa: !S, %c: !C, %row: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tile.tensor_dot_scaled' op operand sfa begins at row 0 and column 0 of its fours}}
  %d = tile.tensor_dot_scaled %a[%c0, %c0, %c0], %a[%c0, %c0, %c0], %c scale %sa[%c0, %row, %c0], %sa[%c0, %c0, %c0] {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 1>} : !A, !A, !C scale !S, !S
  return
}
