// RUN: tile-opt %s --tile-remove-dead | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!S = memref<64x64xf16, #tile.shared<"128B">>

gpu.module @m [#nvvm.target<chip = "sm_90">] {
  // A chain whose end nobody uses goes, its buffer with it.
  // CHECK-LABEL: gpu.func @chain(
  // CHECK-SAME: {
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: gpu.return
  gpu.func @chain(%g: memref<16x16xf16>, %i: index, %h: f16) {
    %x = arith.constant 0.0 : f32
    %s = tile.alloc_shared : !S
    %a = tile.load %g[%i, %i] : memref<16x16xf16> -> !A
    %a2 = tile.ldmatrix %s[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
    %a3 = tile.elementwise arith.addf %a, %a2 : !A
    %b = tile.fill %h : f16 -> !B
    %c = tile.fill %x : f32 -> !C
    %d = tile.mma %a3, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    gpu.return
  }

  // What has an effect stays, and all that it uses.
  // CHECK-LABEL: gpu.func @effects(
  // CHECK: %[[S:.*]] = tile.alloc_shared
  // CHECK: %[[F:.*]] = tile.fill
  // CHECK-NOT: tile.fill
  // CHECK: tile.store %[[F]],
  // CHECK: tile.stmatrix %[[F]], %[[S]][
  // CHECK: tile.async_copy
  // CHECK: tile.async_commit
  // CHECK: tile.async_wait
  gpu.func @effects(%g: memref<64x64xf16>, %i: index, %h: f16) {
    %s = tile.alloc_shared : !S
    %a = tile.fill %h : f16 -> !A
    %b = tile.fill %h : f16 -> !B
    tile.store %a, %g[%i, %i] : !A, memref<64x64xf16>
    tile.stmatrix %a, %s[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !A, !S
    tile.async_copy %g[%i, %i] to %s[%i, %i] shape [64, 64] {vector = 8} : memref<64x64xf16> to !S
    tile.async_commit
    tile.async_wait 0
    gpu.return
  }

  // A value that a loop carries is used.
  // CHECK-LABEL: gpu.func @carried(
  // CHECK: %[[C:.*]] = tile.fill
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[C]])
  // CHECK: tile.mma {{.*}}, %[[ACC]]
  // CHECK-NOT: tile.fill
  // CHECK: scf.yield
  gpu.func @carried(%a: !A, %b: !B, %i: index, %x: f32) {
    %c = tile.fill %x : f32 -> !C
    %d = scf.for %k = %i to %i step %i iter_args(%acc = %c) -> (!C) {
      %unused = tile.fill %x : f32 -> !C
      %e = tile.mma %a, %b, %acc {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      scf.yield %e : !C
    }
    gpu.return
  }
}
