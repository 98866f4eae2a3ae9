// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @unknown_form(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op unknown mma form 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16'; nearest legal: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32,}}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16"} : !A, !B, !C
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @family(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op takes a form of mma; mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is one of mma.sp}}
  %d = tile.mma %a, %b, %c {form = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A, !B, !C
  return
}

// -----

!A = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k8 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @shape_of_a(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op operand a of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is a fragment of tensor<16x16xf16>, not !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k8 a f16">>}}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xbf16>, #tile.layout<"m16n8k16 b bf16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @type_of_b(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op operand b of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is a fragment of tensor<16x8xf16>, not !tile.frag<tensor<16x8xbf16>}}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @layout_of_b(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op operand b of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 has the layout 'register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 8', not 'register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8'}}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!D = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 d f32">>
func.func @type_of_c(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op operand c of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is a fragment of tensor<16x8xf32>}}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A, !B, !C -> !D
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @result(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op operand d must be a !tile.frag, not tensor<16x8xf32>}}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A, !B, !C -> tensor<16x8xf32>
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @operands(%a: !A) {
  // expected-error @below {{op expects exactly 3 operands, but got 1}}
  %d = "tile.mma"(%a) {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : (!A) -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @kind_of_form(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{expected base attribute 'builtin.string' but got 'builtin.integer'}}
  %d = tile.mma %a, %b, %c {form = 16} : !A, !B, !C
  return
}
