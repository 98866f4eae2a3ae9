// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

#a = #tile.operand<a, m16k16, b16>
!A = !tile.frag<tensor<16x16xf16>, #a>
!B = !tile.frag<tensor<16x8xf16>, #tile.operand<b, k16n8, b16>>
!C = !tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>
!TA = tensor<64x32xf16, #tile.operand<a, m16k16, b16, 64x32, warps 2x2>>

// A name says its type, whatever other types there are.
// CHECK-DAG: !a_16x16xf16 = !tile.frag<tensor<16x16xf16>, #tile.operand<a, m16k16, b16>>
// CHECK-DAG: !b_16x8xf16 = !tile.frag<tensor<16x8xf16>, #tile.operand<b, k16n8, b16>>
// CHECK-DAG: !c_16x8xf32 = !tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>
// CHECK-DAG: #a_m16k16_b16_64x32_2x2 = #tile.operand<a, m16k16, b16, 64x32, warps 2x2>

// CHECK: func.func @product(%[[A:.*]]: !a_16x16xf16, %[[B:.*]]: !b_16x8xf16, %[[C:.*]]: !c_16x8xf32,
func.func @product(%a: !A, %b: !B, %c: !C, %t: !TA, %x: tensor<8x8xf16>, %y: tensor<8x8xi8>) {
  // The result has the type of the addend, which is not said again.
  // CHECK: %[[D:.*]] = tile.mma %[[A]], %[[B]], %[[C]] {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !a_16x16xf16, !b_16x8xf16, !c_16x8xf32{{$}}
  // GENERIC: "tile.mma"({{.*}}) {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : (!a_16x16xf16, !b_16x8xf16, !c_16x8xf32) -> !c_16x8xf32
  %d = tile.mma %a, %b, %c
      {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A, !B, !C
  // CHECK: tile.mma %[[A]], %[[B]], %[[D]]
  %e = tile.mma %a, %b, %d {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C -> !C
  // CHECK: tile.elementwise arith.cmpf %[[C]], %[[D]] {predicate = 2 : i64} : !c_16x8xf32 -> !c_16x8xi1
  %m = tile.elementwise arith.cmpf %c, %d {predicate = 2} : !C -> !tile.frag<tensor<16x8xi1>, #tile.operand<c, m16n8>>
  // CHECK: tile.transpose %{{.*}} [1, 0] : tensor<8x8xf16> -> tensor<8x8xf16>
  %r = tile.transpose %x [1, 0] : tensor<8x8xf16> -> tensor<8x8xf16>
  return
}
