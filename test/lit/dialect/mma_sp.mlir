// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>

// CHECK-LABEL: func.func @halves(
func.func @halves(%a: !A, %b: !B, %c: !C, %e: !E) -> !C {
  // CHECK: %[[D:.*]] = tile.mma_sp %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 1 : i64} : !{{[A-Za-z0-9_]+}}, !{{[A-Za-z0-9_]+}}, !{{[A-Za-z0-9_]+}}, !{{[A-Za-z0-9_]+}}
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 1} : !A, !B, !C, !E
  // CHECK: return %[[D]]
  return %d : !C
}

// Metadata that is a constant is a legal code: elements 0 and 1 of each four.
// CHECK-LABEL: func.func @constant_metadata(
func.func @constant_metadata(%a: !A, %b: !B, %c: !C) {
  // CHECK: %[[CODE:.*]] = arith.constant 4 : i4
  // CHECK: %[[E:.*]] = tile.fill %[[CODE]]
  // CHECK: tile.mma_sp %{{.*}}, %{{.*}}, %{{.*}}, %[[E]]
  %code = arith.constant 4 : i4
  %e = tile.fill %code : i4 -> !E
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !E
  return
}
