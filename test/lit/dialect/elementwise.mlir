// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k32 c s32">>

// CHECK-LABEL: func.func @floats(
func.func @floats(%a: !C, %b: !C, %c: !C) -> !C {
  // CHECK: %[[NEG:.*]] = "tile.elementwise"(%{{.*}}) {fn = "arith.negf"} : (!frag) -> !frag
  %0 = "tile.elementwise"(%a) {fn = "arith.negf"} : (!C) -> !C
  // CHECK: %[[ABS:.*]] = "tile.elementwise"(%[[NEG]]) {fn = "math.absf"} : (!frag) -> !frag
  %1 = "tile.elementwise"(%0) {fn = "math.absf"} : (!C) -> !C
  // CHECK: %[[EXP:.*]] = "tile.elementwise"(%[[ABS]]) {fastmath = #arith.fastmath<afn>, fn = "math.exp2"} : (!frag) -> !frag
  %2 = "tile.elementwise"(%1) {fn = "math.exp2", fastmath = #arith.fastmath<afn>} : (!C) -> !C
  // CHECK: "tile.elementwise"(%[[EXP]], %{{.*}}) {fn = "arith.addf"} : (!frag, !frag) -> !frag
  %3 = "tile.elementwise"(%2, %b) {fn = "arith.addf"} : (!C, !C) -> !C
  // CHECK: "tile.elementwise"(%{{.*}}, %{{.*}}, %{{.*}}) {fn = "math.fma"} : (!frag, !frag, !frag) -> !frag
  %4 = "tile.elementwise"(%3, %b, %c) {fn = "math.fma"} : (!C, !C, !C) -> !C
  // CHECK: {fn = "arith.divf"}
  %5 = "tile.elementwise"(%4, %b) {fn = "arith.divf"} : (!C, !C) -> !C
  // CHECK: {fn = "arith.maximumf"}
  %6 = "tile.elementwise"(%5, %b) {fn = "arith.maximumf"} : (!C, !C) -> !C
  // CHECK: {fn = "math.rsqrt"}
  %7 = "tile.elementwise"(%6) {fn = "math.rsqrt"} : (!C) -> !C
  return %7 : !C
}

// CHECK-LABEL: func.func @integers(
func.func @integers(%a: !I, %b: !I) -> !I {
  // CHECK: "tile.elementwise"(%{{.*}}, %{{.*}}) {fn = "arith.muli", overflowFlags = #arith.overflow<nsw>} : (!frag1, !frag1) -> !frag1
  %0 = "tile.elementwise"(%a, %b) {fn = "arith.muli", overflowFlags = #arith.overflow<nsw>} : (!I, !I) -> !I
  // CHECK: {fn = "math.absi"}
  %1 = "tile.elementwise"(%0) {fn = "math.absi"} : (!I) -> !I
  // CHECK: {fn = "arith.maxsi"}
  %2 = "tile.elementwise"(%1, %b) {fn = "arith.maxsi"} : (!I, !I) -> !I
  // CHECK: {fn = "arith.shrui"}
  %3 = "tile.elementwise"(%2, %b) {fn = "arith.shrui"} : (!I, !I) -> !I
  return %3 : !I
}
