// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k32 c s32">>

// CHECK-LABEL: func.func @floats(
func.func @floats(%a: !C, %b: !C, %c: !C) -> !C {
  // CHECK: %[[NEG:.*]] = tile.elementwise arith.negf %{{.*}} : !m16n8k16_c_f32_16x8xf32
  %0 = tile.elementwise arith.negf %a : !C
  // CHECK: %[[ABS:.*]] = tile.elementwise math.absf %[[NEG]] : !m16n8k16_c_f32_16x8xf32
  %1 = tile.elementwise math.absf %0 : !C
  // CHECK: %[[EXP:.*]] = tile.elementwise math.exp2 %[[ABS]] {fastmath = #arith.fastmath<afn>} : !m16n8k16_c_f32_16x8xf32
  %2 = tile.elementwise math.exp2 %1 {fastmath = #arith.fastmath<afn>} : !C
  // CHECK: tile.elementwise arith.addf %[[EXP]], %{{.*}} : !m16n8k16_c_f32_16x8xf32
  %3 = tile.elementwise arith.addf %2, %b : !C
  // CHECK: tile.elementwise math.fma %{{.*}}, %{{.*}}, %{{.*}} : !m16n8k16_c_f32_16x8xf32
  %4 = tile.elementwise math.fma %3, %b, %c : !C
  // CHECK: arith.divf %{{.*}}
  %5 = tile.elementwise arith.divf %4, %b : !C
  // CHECK: arith.maximumf %{{.*}}
  %6 = tile.elementwise arith.maximumf %5, %b : !C
  // CHECK: math.rsqrt %{{.*}}
  %7 = tile.elementwise math.rsqrt %6 : !C
  return %7 : !C
}

// CHECK-LABEL: func.func @integers(
func.func @integers(%a: !I, %b: !I) -> !I {
  // CHECK: tile.elementwise arith.muli %{{.*}}, %{{.*}} {overflowFlags = #arith.overflow<nsw>} : !m16n8k32_c_s32_16x8xi32
  %0 = tile.elementwise arith.muli %a, %b {overflowFlags = #arith.overflow<nsw>} : !I
  // CHECK: math.absi %{{.*}}
  %1 = tile.elementwise math.absi %0 : !I
  // CHECK: arith.maxsi %{{.*}}
  %2 = tile.elementwise arith.maxsi %1, %b : !I
  // CHECK: arith.shrui %{{.*}}
  %3 = tile.elementwise arith.shrui %2, %b : !I
  return %3 : !I
}
