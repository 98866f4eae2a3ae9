// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!A = !tile.wmma<"m16n16k16 a row f16">
!B = !tile.wmma<"m16n16k16 b col f16">
!C = !tile.wmma<"m16n16k16 c f32">
!I4 = !tile.wmma<"m8n8k32 a row s4">

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // All lanes give one address, and the stride is in elements: of a dynamic one it is read at run
  // time, of shared memory it is the buffer's columns.
  // CHECK-LABEL: gpu.func @product(
  gpu.func @product(%a: memref<?x?xf16, strided<[?, 1]>>, %d: memref<16x32xf32>, %x: f32, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : memref<2x16x32xf16, #tile.shared<"none">>
    // CHECK: %[[STRIDE:.*]] = llvm.trunc %{{.*}} : i64 to i32
    // CHECK: %[[RA:.*]] = llvm.call @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16.p1(%{{.*}}, %[[STRIDE]]) {convergent} : (!llvm.ptr<1>, i32) -> !llvm.struct<(vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>)>
    %0 = tile.wmma_load %a[%i, %z] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
        : memref<?x?xf16, strided<[?, 1]>> -> !A
    // CHECK: %[[COLS:.*]] = llvm.mlir.constant(32 : i32) : i32
    // CHECK: llvm.call @llvm.nvvm.wmma.m16n16k16.load.b.col.stride.f16.p3(%{{.*}}, %[[COLS]]) {convergent} : (!llvm.ptr<3>, i32)
    %1 = tile.wmma_load %s[%z, %z, %z] {form = "wmma.load.b.sync.aligned.col.m16n16k16.f16"}
        : memref<2x16x32xf16, #tile.shared<"none">> -> !B
    %2 = tile.wmma_fill %x : f32 -> !C
    // CHECK: %[[RD:.*]] = llvm.call @llvm.nvvm.wmma.m16n16k16.mma.row.col.f32.f32({{.*}}) {convergent}
    // CHECK: %[[D0:.*]] = llvm.extractvalue %[[RD]][0]
    %3 = tile.wmma_mma %0, %1, %2 {form = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"}
        : !A, !B, !C
    // Register by register, whatever is in it.
    // CHECK: %[[E0:.*]] = arith.mulf %[[D0]], %{{.*}} fastmath<contract> : f32
    // CHECK-COUNT-7: arith.mulf %{{.*}} fastmath<contract> : f32
    %4 = tile.wmma_elementwise arith.mulf %3, %2 {fastmath = #arith.fastmath<contract>} : !C
    // CHECK: llvm.call @llvm.nvvm.wmma.m16n16k16.store.d.row.stride.f32.p1(%{{.*}}, %[[E0]], {{.*}}) {convergent}
    tile.wmma_store %4, %d[%z, %z] {form = "wmma.store.d.sync.aligned.row.m16n16k16.f32"}
        : !C, memref<16x32xf32>
    gpu.return
  }

  // Memory counts bytes; the instruction's stride counts its elements.
  // CHECK-LABEL: gpu.func @narrow(
  gpu.func @narrow(%m: memref<?x?xi8, strided<[?, 1]>>, %d: memref<8x8xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: %[[BYTES:.*]] = llvm.trunc %{{.*}} : i64 to i32
    // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i32) : i32
    // CHECK: %[[STRIDE:.*]] = llvm.mul %[[BYTES]], %[[TWO]] : i32
    // CHECK: llvm.call @llvm.nvvm.wmma.m8n8k32.load.a.row.stride.s4.p1(%{{.*}}, %[[STRIDE]]) {convergent} : (!llvm.ptr<1>, i32) -> i32
    %a = tile.wmma_load %m[%z, %z] {form = "wmma.load.a.sync.aligned.row.m8n8k32.s4"}
        : memref<?x?xi8, strided<[?, 1]>> -> !I4
    gpu.return
  }
}
