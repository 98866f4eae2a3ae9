// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Which element of a wmma fragment is in which register is not defined, so nothing may depend on
// it; PTX ISA, "Matrix Fragments for WMMA". Conversion of an accumulator between f16 and f32
// would: the two types distribute their elements each in its own way.

!C = !tile.wmma<"m16n16k16 c f32">
!H = !tile.wmma<"m16n16k16 c f16">
func.func @accumulator_to_halves(%c: !C) {
  // expected-error @below {{'tile.cast' op source is a wmma fragment: the positions of its elements are not defined, so only the tile.wmma ops take it}}
  %0 = tile.cast arith.truncf %c : !C to !H
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
!H = !tile.wmma<"m16n16k16 c f16">
func.func @accumulator_to_floats_in_place(%h: !H) {
  // expected-error @below {{'tile.wmma_elementwise' op operands and result must be of one type: !tile.wmma<"m16n16k16 c f16"> and !tile.wmma<"m16n16k16 c f32">}}
  %0 = tile.wmma_elementwise arith.negf %h : !H -> !C
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
func.func @elementwise(%c: !C) {
  // expected-error @below {{is a wmma fragment: the positions of its elements are not defined}}
  %0 = tile.elementwise arith.addf %c, %c : !C
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
!F = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @slice(%c: !C) {
  // expected-error @below {{'tile.slice' op whole is a wmma fragment: the positions of its elements are not defined}}
  %0 = tile.slice %c[0] : !C -> !F
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
!F = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @concat(%c: !C) {
  // expected-error @below {{'tile.concat' op part is a wmma fragment: the positions of its elements are not defined}}
  %0 = tile.concat %c : !C -> !F
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
!F = !tile.frag<tensor<16x16xf32>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @convert_layout(%c: !C) {
  // expected-error @below {{'tile.convert_layout' op source is a wmma fragment: the positions of its elements are not defined}}
  %0 = tile.convert_layout %c : !C -> !F
  return
}

// -----

!C = !tile.wmma<"m16n16k16 c f32">
func.func @store(%c: !C, %m: memref<16x16xf32>, %i: index) {
  // expected-error @below {{'tile.store' op value is a wmma fragment: the positions of its elements are not defined}}
  tile.store %c, %m[%i, %i] : !C, memref<16x16xf32>
  return
}

// -----

!A = !tile.wmma<"m16n16k16 a row f16">
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @operand_of_mma(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.mma' op operand a is a wmma fragment: the positions of its elements are not defined}}
  %0 = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

// Nor do shapes mix: the fragments of m32n8k16 lie otherwise.
!A = !tile.wmma<"m32n8k16 a row f16">
!B = !tile.wmma<"m16n16k16 b row f16">
!C = !tile.wmma<"m16n16k16 c f32">
func.func @shapes(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.wmma_mma' op operand a of wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 is a !tile.wmma<"m16n16k16 a row f16">, not !tile.wmma<"m32n8k16 a row f16">}}
  %d = tile.wmma_mma %a, %b, %c {form = "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32"}
      : !A, !B, !C
  return
}

// -----

// An accumulator is not a multiplicand, whatever its type.
!H = !tile.wmma<"m16n16k16 c f16">
!B = !tile.wmma<"m16n16k16 b row f16">
func.func @accumulator_as_operand(%h: !H, %b: !B) {
  // expected-error @below {{'tile.wmma_mma' op operand a of wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 is a !tile.wmma<"m16n16k16 a row f16">, not !tile.wmma<"m16n16k16 c f16">}}
  %d = tile.wmma_mma %h, %b, %h {form = "wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16"}
      : !H, !B, !H
  return
}

// -----

// Loaded by rows, a fragment is not that of columns.
!A = !tile.wmma<"m16n16k16 a col f16">
func.func @layout_of_a_load(%m: memref<16x16xf16>, %i: index) {
  // expected-error @below {{'tile.wmma_load' op operand a of wmma.load.a.sync.aligned.row.m16n16k16.f16 is a !tile.wmma<"m16n16k16 a row f16">, not !tile.wmma<"m16n16k16 a col f16">}}
  %0 = tile.wmma_load %m[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<16x16xf16> -> !A
  return
}
