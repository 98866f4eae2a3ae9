// RUN: tile-opt %s --tile-fragments-to-nvvm --split-input-file | FileCheck %s

!H = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">>

// Pairs of half a word each; on sm_90 two pairs at once.
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @pairs(
  gpu.func @pairs(%x: f16, %g: memref<8x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : f16 -> !H
    // CHECK: llvm.inline_asm has_side_effects "red.relaxed.gpu.global.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}" %{{.*}} : (!llvm.ptr<1>, vector<2xf16>) -> ()
    // CHECK: llvm.inline_asm has_side_effects "red.relaxed.gpu.global.add.noftz.f16x2 [$0+4], $1;", "l,r,~{memory}" %{{.*}} : (!llvm.ptr<1>, vector<2xf16>) -> ()
    tile.atomic arith.addf %t, %g[%z, %z] {vector = 4 : i64} : !H, memref<8x16xf16>
    gpu.return
  }
}

// -----

!H = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @two_pairs(
  gpu.func @two_pairs(%x: f16, %g: memref<8x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : f16 -> !H
    // CHECK: llvm.inline_asm has_side_effects "red.relaxed.gpu.global.add.noftz.v2.f16x2 [$0], {$1, $2};", "l,r,r,~{memory}"
    // CHECK-NOT: llvm.inline_asm
    tile.atomic arith.addf %t, %g[%z, %z] {vector = 4 : i64} : !H, memref<8x16xf16>
    gpu.return
  }
}

// -----

// Of lanes that hold the same, one updates: here those of even number.
!C = !tile.frag<tensor<1x16xi32>, #tile.layout<"register; lane [0,0] [0,1] [0,2] [0,4] [0,8] -> row 1, col 16">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @copies(
  gpu.func @copies(%x: i32, %g: memref<1x16xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %{{.*}} : index
    // CHECK: %[[BIT:.*]] = arith.andi %[[LANE]], %{{.*}} : index
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BIT]],
    %z = arith.constant 0 : index
    %t = tile.fill %x : i32 -> !C
    // CHECK: "@$0 red.relaxed.gpu.global.max.s32 [$1], $2;", "b,l,r,~{memory}" %[[FIRST]],
    tile.atomic arith.maxsi %t, %g[%z, %z] : !C, memref<1x16xi32>
    // CHECK: "@$0 st.global.b32 [$1], $2;", "b,l,r,~{memory}" %[[FIRST]],
    tile.store %t, %g[%z, %z] : !C, memref<1x16xi32>
    // Of those in bounds.
    // CHECK: %[[IN:.*]] = llvm.and %[[FIRST]], %{{.*}} : i1
    // CHECK: %[[BOTH:.*]] = llvm.and %[[IN]], %{{.*}} : i1
    // CHECK: "@$0 st.global.b32 [$1], $2;", "b,l,r,~{memory}" %[[BOTH]],
    tile.store %t, %g[%z, %z] masked : !C, memref<1x16xi32>
    // In shared memory as well.
    // CHECK: "@$0 st.shared.b32 [$1], $2;", "b,l,r,~{memory}" %[[FIRST]],
    %s = tile.alloc_shared : memref<1x16xi32, #tile.shared<"none">>
    tile.store %t, %s[%z, %z] : !C, memref<1x16xi32, #tile.shared<"none">>
    gpu.return
  }
}

// -----

// An array in shared memory: the scope is the CTA; pairs of half a word, but no vectors.
!H = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">>
!S = memref<8x16xf16, #gpu.address_space<workgroup>>
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @shared_array(
  gpu.func @shared_array(%x: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : f16 -> !H
    // CHECK: llvm.mlir.addressof @shared_array_shared : !llvm.ptr<3>
    %s = tile.alloc_shared : !S
    // CHECK: llvm.inline_asm has_side_effects "red.relaxed.cta.shared.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}" %{{.*}} : (!llvm.ptr<3>, vector<2xf16>) -> ()
    // CHECK: llvm.inline_asm has_side_effects "red.relaxed.cta.shared.add.noftz.f16x2 [$0+4], $1;", "l,r,~{memory}"
    tile.atomic arith.addf %t, %s[%z, %z] {vector = 4 : i64} : !H, !S
    // CHECK: "atom.relaxed.cta.shared.add.noftz.f16 $0, [$1], $2;"
    %o = tile.atomic_rmw arith.addf %t, %s[%z, %z] : !H, !S
    // CHECK: "atom.acquire.gpu.shared.add.noftz.f16 $0, [$1], $2;"
    %p = tile.atomic_rmw arith.addf %t, %s[%z, %z] {order = "acquire", scope = "gpu"} : !H, !S
    gpu.return
  }
}

// -----

// Memory that the kernel declares, as upstream has it.
!C = !tile.frag<tensor<2x16xi32>, #tile.layout<"register; lane [0,1] [0,2] [0,4] [0,8] [1,0] -> row 2, col 16">>
!W = memref<2x16xi32, #gpu.address_space<workgroup>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @declared(
  gpu.func @declared(%x: i32) workgroup(%w: !W) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : i32 -> !C
    // CHECK: "red.relaxed.cta.shared.max.s32 [$0], $1;", "l,r,~{memory}" %{{.*}} : (!llvm.ptr<3>, i32) -> ()
    tile.atomic arith.maxsi %t, %w[%z, %z] : !C, !W
    gpu.return
  }
}
