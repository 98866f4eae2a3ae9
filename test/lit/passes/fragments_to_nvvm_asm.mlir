// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!H = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!F = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k16 c f32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // A lane has four elements: two words of two.
  // CHECK-LABEL: gpu.func @packed(
  gpu.func @packed(%p: memref<16x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = arith.constant 0 : index
    %h = tile.load %p[%i, %i] {vector = 2} : memref<16x8xf16> -> !H
    // CHECK-COUNT-2: llvm.inline_asm "ex2.approx.f16x2 $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
    // CHECK-NOT: llvm.inline_asm
    %0 = tile.inline_asm "ex2.approx.f16x2 $0, $1;", "=r, r" (%h) {pack = 2 : i64} : (!H) -> (!H)
    tile.store %0, %p[%i, %i] {vector = 2} : !H, memref<16x8xf16>
    gpu.return
  }

  // Several results come in a struct; what is volatile has an effect.
  // CHECK-LABEL: gpu.func @several(
  gpu.func @several(%p: memref<16x8xf32>, %q: memref<16x8xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = arith.constant 0 : index
    %f = tile.load %p[%i, %i] {vector = 2} : memref<16x8xf32> -> !F
    // CHECK: %[[BOTH:.*]] = llvm.inline_asm "abs.f32 $0, $2; mov.b32 $1, $2;", "=&f,=r,f" %{{.*}} : (f32) -> !llvm.struct<(f32, i32)>
    // CHECK: llvm.extractvalue %[[BOTH]][0]
    // CHECK: llvm.extractvalue %[[BOTH]][1]
    // CHECK-COUNT-3: llvm.inline_asm
    %0:2 = tile.inline_asm "abs.f32 $0, $2; mov.b32 $1, $2;", "=&f,=r,f" (%f) : (!F) -> (!F, !I)
    // CHECK-COUNT-4: llvm.inline_asm has_side_effects "mov.b32 $0, %clock; // $1", "=r,r"
    %1 = tile.inline_asm_volatile "mov.b32 $0, %clock; // $1", "=r,r" (%0#1) : (!I) -> (!I)
    tile.store %0#0, %p[%i, %i] {vector = 2} : !F, memref<16x8xf32>
    tile.store %1, %q[%i, %i] {vector = 2} : !I, memref<16x8xi32>
    gpu.return
  }

  // One element of two bytes a lane fills no word of two: the second stands for nothing.
  // CHECK-LABEL: gpu.func @padded(
  gpu.func @padded(%p: memref<8x4xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = arith.constant 0 : index
    %h = tile.load %p[%i, %i] : memref<8x4xf16> -> !tile.frag<tensor<8x4xf16>, #tile.layout<"register; lane [0,1] [0,2] [1,0] [2,0] [4,0] -> row 8, col 4">>
    // CHECK: %[[TWO:[0-9]+]] = vector.from_elements %[[ONE:[0-9#]+]], %[[ONE]] : vector<2xf16>
    // CHECK: %[[WORD:.*]] = llvm.bitcast %[[TWO]] : vector<2xf16> to i32
    // CHECK: llvm.inline_asm "neg.f16x2 $0, $1;", "=r,r" %[[WORD]]
    // CHECK-NOT: llvm.inline_asm
    %0 = tile.inline_asm "neg.f16x2 $0, $1;", "=r,r" (%h) {pack = 2 : i64} : (!tile.frag<tensor<8x4xf16>, #tile.layout<"register; lane [0,1] [0,2] [1,0] [2,0] [4,0] -> row 8, col 4">>) -> (!tile.frag<tensor<8x4xf16>, #tile.layout<"register; lane [0,1] [0,2] [1,0] [2,0] [4,0] -> row 8, col 4">>)
    tile.store %0, %p[%i, %i] : !tile.frag<tensor<8x4xf16>, #tile.layout<"register; lane [0,1] [0,2] [1,0] [2,0] [4,0] -> row 8, col 4">>, memref<8x4xf16>
    gpu.return
  }
}
