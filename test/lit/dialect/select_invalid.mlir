// RUN: tile-opt %s --split-input-file --verify-diagnostics

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>
func.func @values(%p: i1, %a: !C, %b: !I) {
  // expected-error @below {{'tile.select' op values and result must be of one type: !tile.frag<tensor<16x8xi32>}}
  %0 = "tile.select"(%p, %a, %b) : (i1, !C, !I) -> !C
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"register [8,0] [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
func.func @layout(%m: !M, %a: !C) {
  // expected-error @below {{'tile.select' op a mask of the tile is a fragment of 16x8xi1 with its layout 'register [0,1] [8,0];}}
  %0 = tile.select %m, %a, %a : !M, !C
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @condition(%m: i8, %a: !C) {
  // expected-error @below {{'tile.select' op a condition that is not an i1 must be a !tile.frag, not i8}}
  %0 = tile.select %m, %a, %a : i8, !C
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f32">>
func.func @predicate(%a: !C) {
  // expected-error @below {{'tile.elementwise' op arith.cmpf takes a predicate, a number from 0 to 15}}
  %0 = tile.elementwise arith.cmpf %a, %a : !C -> !M
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f32">>
func.func @number(%a: !M) {
  // expected-error @below {{'tile.elementwise' op arith.cmpi takes a predicate, a number from 0 to 9}}
  %0 = tile.elementwise arith.cmpi %a, %a {predicate = 10 : i64} : !M
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f32">>
func.func @kind(%a: !C) {
  // expected-error @below {{'tile.elementwise' op arith.cmpi takes integer elements, not f32}}
  %0 = tile.elementwise arith.cmpi %a, %a {predicate = 0 : i64} : !C -> !M
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @result(%a: !C) {
  // expected-error @below {{'tile.elementwise' op a mask of the tile is a fragment of 16x8xi1}}
  %0 = tile.elementwise arith.cmpf %a, %a {predicate = 0 : i64} : !C
  return
}
