// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @chosen(
func.func @chosen(%a: !C, %b: !C, %i: !I, %one: i1) -> !C {
  // CHECK: %[[LESS:.*]] = tile.elementwise arith.cmpf %{{.*}}, %{{.*}} {predicate = 4 : i64} : !m16n8k16_c_f32_16x8xf32 -> !{{[A-Za-z0-9_]+}}
  %0 = tile.elementwise arith.cmpf %a, %b {predicate = 4 : i64} : !C -> !M
  // CHECK: %[[SAME:.*]] = tile.elementwise arith.cmpi %{{.*}}, %{{.*}} {predicate = 0 : i64}
  %1 = tile.elementwise arith.cmpi %i, %i {predicate = 0 : i64} : !I -> !M
  // CHECK: %[[BOTH:.*]] = tile.elementwise arith.andi %[[LESS]], %[[SAME]]
  %2 = tile.elementwise arith.andi %0, %1 : !M
  // CHECK: %[[EACH:.*]] = tile.select %[[BOTH]], %{{.*}}, %{{.*}}
  %3 = tile.select %2, %a, %b : !M, !C
  // CHECK: tile.select %{{.*}}, %[[EACH]], %{{.*}} : i1, !m16n8k16_c_f32_16x8xf32
  %4 = tile.select %one, %3, %a : i1, !C
  return %4 : !C
}
