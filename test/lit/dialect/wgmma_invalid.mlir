// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @unknown_form(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{'tile.wgmma' op unknown wgmma form 'wgmma.mma_async.m64n128'; nearest legal: wgmma.mma_async}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t {form = "wgmma.mma_async.m64n128"}
      : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @open_form(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{a::descriptor}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f1"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @family(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{'tile.wgmma' op takes a form of wgmma; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is one of mma}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x64xf32>, #tile.layout<"m64n64k16 d f32">>
func.func @accumulator(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand c of wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor is a fragment of tensor<64x128xf32>, not}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @one_warp(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand c must be a !tile.frag of a warpgroup, such as}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @no_such_selector(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{has no imm_trans_a; it has imm_scale_a, imm_scale_b, imm_trans_b}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::registers", imm_trans_a = 1} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @scale(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{imm_scale_a of wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor is 1, -1, not 2}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_scale_a = 2} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @scale_d(%a: !A, %b: !B, %c: !D, %t: i32, %i: index) {
  // expected-error @below {{scale_d must be an i1, not i32}}
  %d = "tile.wgmma"(%a, %b, %c, %t, %i, %i, %i, %i, %i, %i) {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : (!A, !B, !D, i32, index, index, index, index, index, index) -> !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @a_in_memory(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand a must be a !tile.frag of a warpgroup}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::registers"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @too_few_indices(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{a and b in shared memory takes 6 indices, one per dimension, not 5}}
  %d = "tile.wgmma"(%a, %b, %c, %t, %i, %i, %i, %i, %i) {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : (!A, !B, !D, i1, index, index, index, index, index) -> !D
  return
}

// -----

!A = memref<4x64x64xf16>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @global_memory(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand a of wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor is a memref in #tile.shared<"…">, not}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xbf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @element_type(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand a of wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor has elements of type f16, not bf16}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"64B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @swizzle(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{with swizzle 64B it must be eight lines 64 bytes apart along M, then one offset on}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"swizzle<3,4,4>">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @swizzle_of_its_own(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand a lies in #tile.shared<"swizzle<3,4,4>">; descriptors support none, 32B, 64B, 128B}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x64x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @too_few_rows(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{operand b of wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor has 128 cols, more than the 64 rows of the memref}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @row(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  %k = arith.constant 4 : index
  // expected-error @below {{operand a starts at row 4; rows start at multiples of 8}}
  %d = tile.wgmma %a[%i, %k, %i], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @column(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  %k = arith.constant 4 : index
  // expected-error @below {{operand b starts at column 4; columns start at multiples of 8}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %k], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @columns_end(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  %k = arith.constant 56 : index
  // expected-error @below {{operand a takes columns 56 to 71 of a matrix of 64}}
  %d = tile.wgmma %a[%i, %i, %k], %b[%i, %i, %i], %c if %t
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  return
}

// -----

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @matrices_end(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  %k = arith.constant 3 : index
  // expected-error @below {{operand b takes 2 matrices from 3 on, of 4}}
  %d = tile.wgmma %a[%i, %i, %i], %a[%k, %i, %i], %c if %t {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1} : !A, !A, !D
  return
}

// -----

!A = memref<4x64x64xf8E4M3FN, #tile.shared<"128B">>
!B = memref<4x128x64xf8E4M3FN, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k32 d f32">>
func.func @bytes_have_no_trans(%a: !A, %b: !B, %c: !D, %t: i1, %i: index) {
  // expected-error @below {{has no imm_trans_b; it has imm_scale_a, imm_scale_b}}
  %d = tile.wgmma %a[%i, %i, %i], %b[%i, %i, %i], %c if %t {form = "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3.a::descriptor", imm_trans_b = 1} : !A, !B, !D
  return
}
