// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!M = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f32">>
#rows = #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 32">

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // A mask of fewer bits than a word has is one i1 an element.
  // CHECK-LABEL: gpu.func @masks(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[Y:[A-Za-z0-9_]+]]: f32
  gpu.func @masks(%x: f32, %y: f32, %p: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.fill %x : f32 -> !C
    %b = tile.fill %y : f32 -> !C
    // CHECK: %[[FIRST:.*]] = arith.cmpf olt, %[[X]], %[[Y]] : f32
    // CHECK-NEXT: %[[SECOND:.*]] = arith.cmpf olt
    // CHECK-NEXT: arith.cmpf olt
    // CHECK-NEXT: arith.cmpf olt
    %m = tile.elementwise arith.cmpf %a, %b {predicate = 4 : i64} : !C -> !M
    // CHECK-NEXT: %[[CHOSEN:.*]] = llvm.select %[[FIRST]], %[[X]], %[[Y]] : i1, f32
    // CHECK-NEXT: llvm.select %[[SECOND]],
    %s = tile.select %m, %a, %b : !M, !C
    tile.store %s, %p[%z, %z] : !C, memref<16x8xf32>
    gpu.return
  }

  // A mask that fills a word is packed into it, and what was packed is known when it chooses.
  // CHECK-LABEL: gpu.func @full_word(
  // CHECK-SAME: %[[X:[A-Za-z0-9_]+]]: f32, %[[Y:[A-Za-z0-9_]+]]: f32
  gpu.func @full_word(%x: f32, %y: f32, %p: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.fill %x : f32 -> !tile.frag<tensor<32x32xf32>, #rows>
    %b = tile.fill %y : f32 -> !tile.frag<tensor<32x32xf32>, #rows>
    // CHECK: %[[FIRST:.*]] = arith.cmpf olt, %[[X]], %[[Y]] : f32
    // CHECK-COUNT-31: llvm.or
    // CHECK: llvm.bitcast %{{.*}} : i32 to vector<32xi1>
    // CHECK-NEXT: llvm.select %[[FIRST]], %[[X]], %[[Y]] : i1, f32
    %m = tile.elementwise arith.cmpf %a, %b {predicate = 4 : i64}
        : !tile.frag<tensor<32x32xf32>, #rows> -> !tile.frag<tensor<32x32xi1>, #rows>
    %s = tile.select %m, %a, %b
        : !tile.frag<tensor<32x32xi1>, #rows>, !tile.frag<tensor<32x32xf32>, #rows>
    tile.store %s, %p[%z, %z] : !tile.frag<tensor<32x32xf32>, #rows>, memref<32x32xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_for_all(
  // CHECK-SAME: %[[Q:[A-Za-z0-9_]+]]: i1
  gpu.func @one_for_all(%q: i1, %x: f16, %y: f16, %p: memref<16x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.fill %x : f16 -> !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
    %b = tile.fill %y : f16 -> !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
    // CHECK: llvm.select %[[Q]], %{{.*}}, %{{.*}} : i1, vector<2xf16>
    // CHECK-NEXT: llvm.select %[[Q]], %{{.*}}, %{{.*}} : i1, vector<2xf16>
    // CHECK-NOT: llvm.select
    %s = tile.select %q, %a, %b : i1, !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
    tile.store %s, %p[%z, %z]
        : !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>, memref<16x8xf16>
    gpu.return
  }
}
