// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @chosen(
func.func @chosen(%a: !C, %b: !C, %i: !I, %one: i1) -> !C {
  // CHECK: %[[LESS:.*]] = "tile.elementwise"(%{{.*}}, %{{.*}}) {fn = "arith.cmpf", predicate = 4 : i64} : (!frag, !frag) -> !frag{{[0-9]+}}
  %0 = "tile.elementwise"(%a, %b) {fn = "arith.cmpf", predicate = 4 : i64} : (!C, !C) -> !M
  // CHECK: %[[SAME:.*]] = "tile.elementwise"(%{{.*}}, %{{.*}}) {fn = "arith.cmpi", predicate = 0 : i64}
  %1 = "tile.elementwise"(%i, %i) {fn = "arith.cmpi", predicate = 0 : i64} : (!I, !I) -> !M
  // CHECK: %[[BOTH:.*]] = "tile.elementwise"(%[[LESS]], %[[SAME]]) {fn = "arith.andi"}
  %2 = "tile.elementwise"(%0, %1) {fn = "arith.andi"} : (!M, !M) -> !M
  // CHECK: %[[EACH:.*]] = "tile.select"(%[[BOTH]], %{{.*}}, %{{.*}})
  %3 = "tile.select"(%2, %a, %b) : (!M, !C, !C) -> !C
  // CHECK: "tile.select"(%{{.*}}, %[[EACH]], %{{.*}}) : (i1, !frag, !frag) -> !frag
  %4 = "tile.select"(%one, %3, %a) : (i1, !C, !C) -> !C
  return %4 : !C
}
