// RUN: tile-opt %s --tile-fragments-to-nvvm --split-input-file | FileCheck %s

!T = !tile.frag<tensor<8x32xf16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32">>
!I = !tile.frag<tensor<8x32xi32>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32">>
!P = !tile.frag<tensor<8x32xi1>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // One access of 16 bytes, at the row that the first of its elements says.
  // CHECK-LABEL: gpu.func @row(
  gpu.func @row(%m: memref<64x64xf16>, %o: i32, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %rows = tile.fill %o : i32 -> !I
    // CHECK: %[[ROW:.*]] = llvm.sext %arg1 : i32 to i64
    // CHECK: %[[AT:.*]] = llvm.add %[[ROW]], %{{.*}} : i64
    // CHECK: llvm.mul %[[AT]], %{{.*}} : i64
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
    // CHECK-NOT: llvm.load
    %t = tile.gather %m[%i, %z] along [0] by %rows {vector = 8 : i64} : memref<64x64xf16> by !I -> !T
    // In bounds: the row as a number without sign, and the column.
    // CHECK: %[[IN:.*]] = llvm.icmp "ult" %[[AT2:.*]], %{{.*}} : i64
    // CHECK: %[[BOTH:.*]] = llvm.and %{{.*}}, %[[COL:.*]] : i1
    // CHECK: "@$0 st.global.v4.b32 [$1], {$2, $3, $4, $5};"
    tile.scatter %t, %m[%i, %z] along [0] by %rows masked {vector = 8 : i64} : !T, memref<64x64xf16> by !I
    gpu.return
  }
}

// -----

!T = !tile.frag<tensor<8x32xf16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32">>
!P = !tile.frag<tensor<8x32xi1>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Predicated by the condition; no memory is touched where it is false.
  // CHECK-LABEL: gpu.func @where(
  gpu.func @where(%m: memref<64x64xf16>, %p: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %c = tile.fill %p : i1 -> !P
    // CHECK: "mov.b32 $0, 0;{{.*}}@$4 ld.global.v4.b32 {$0, $1, $2, $3}, [$5];", "=r,=r,=r,=r,b,l,~{memory}" %arg1,
    %t = tile.gather %m[%z, %z] where %c {vector = 8 : i64} : memref<64x64xf16> where !P -> !T
    // CHECK-COUNT-2: "@$0 st.global.v2.b32 [$1{{(\+8)?}}], {$2, $3};", "b,l,r,r,~{memory}" %arg1,
    tile.scatter %t, %m[%z, %z] where %c {vector = 4 : i64} : !T, memref<64x64xf16> where !P
    gpu.return
  }
}

// -----

!T = !tile.frag<tensor<1x16xi32>, #tile.layout<"register; lane [0,0] [0,1] [0,2] [0,4] [0,8] -> row 1, col 16">>
!I = !tile.frag<tensor<1x16xi64>, #tile.layout<"register; lane [0,0] [0,1] [0,2] [0,4] [0,8] -> row 1, col 16">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Of lanes that hold the same, one updates.
  // CHECK-LABEL: gpu.func @copies(
  gpu.func @copies(%x: i32, %o: i64, %m: memref<?x?xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq,
    %t = tile.fill %x : i32 -> !T
    %i = tile.fill %o : i64 -> !I
    // CHECK: "@$0 red.relaxed.gpu.global.max.s32 [$1], $2;", "b,l,r,~{memory}" %[[FIRST]],
    tile.atomic_scatter arith.maxsi %t, %m[%z, %z] along [1] by %i : !T, memref<?x?xi32> by !I
    gpu.return
  }
}
