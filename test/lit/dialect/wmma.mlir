// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.wmma<"m16n16k16 a row f16">
!B = !tile.wmma<"m16n16k16 b col f16">
!C = !tile.wmma<"m16n16k16 c f32">


// CHECK-LABEL: func.func @product(
func.func @product(%a: memref<?x?xf16, strided<[?, 1]>>, %s: memref<2x16x16xf16, #tile.shared<"none">>, %d: memref<16x32xf32>, %x: f32, %i: index) {
  // CHECK: %[[A:.*]] = tile.wmma_load %{{.*}}[%[[I:.*]], %[[I]]] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"} : memref<?x?xf16, strided<[?, 1]>> -> !tile.wmma<"m16n16k16 a row f16">
  %0 = tile.wmma_load %a[%i, %i] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
      : memref<?x?xf16, strided<[?, 1]>> -> !A
  // CHECK: %[[B:.*]] = tile.wmma_load %{{.*}}[%[[I]], %[[I]], %[[I]]] {form = "wmma.load.b.sync.aligned.col.m16n16k16.f16"} : memref<2x16x16xf16, #tile.shared<"none">> -> !tile.wmma<"m16n16k16 b col f16">
  %1 = tile.wmma_load %s[%i, %i, %i] {form = "wmma.load.b.sync.aligned.col.m16n16k16.f16"}
      : memref<2x16x16xf16, #tile.shared<"none">> -> !B
  // CHECK: %[[C:.*]] = tile.wmma_fill %{{.*}} : f32 -> !tile.wmma<"m16n16k16 c f32">
  %2 = tile.wmma_fill %x : f32 -> !C
  // CHECK: %[[D:.*]] = tile.wmma_mma %[[A]], %[[B]], %[[C]] {form = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"} : !tile.wmma<"m16n16k16 a row f16">, !tile.wmma<"m16n16k16 b col f16">, !tile.wmma<"m16n16k16 c f32">
  %3 = tile.wmma_mma %0, %1, %2 {form = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"}
      : !A, !B, !C
  // CHECK: %[[E:.*]] = tile.wmma_elementwise arith.mulf %[[D]], %[[C]] {fastmath = #arith.fastmath<contract>} : !tile.wmma<"m16n16k16 c f32">
  %4 = tile.wmma_elementwise arith.mulf %3, %2 {fastmath = #arith.fastmath<contract>} : !C
  // CHECK: tile.wmma_store %[[E]], %{{.*}}[%[[I]], %[[I]]] {form = "wmma.store.d.sync.aligned.row.m16n16k16.f32"} : !tile.wmma<"m16n16k16 c f32">, memref<16x32xf32>
  tile.wmma_store %4, %d[%i, %i] {form = "wmma.store.d.sync.aligned.row.m16n16k16.f32"}
      : !C, memref<16x32xf32>
  return
}
