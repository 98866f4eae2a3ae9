// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!R = !tile.frag<tensor<16xf32>, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4] -> row 16">>
!E = !tile.frag<tensor<16x1xf32>, #tile.layout<"register [8,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0] -> row 16, col 1">>
!H = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!HR = !tile.frag<tensor<16xf16>, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4] -> row 16">>
!HC = !tile.frag<tensor<8xf16>, #tile.layout<"register [1]; lane [2] [4] [0] [0] [0] -> row 8">>
!HT = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [1,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 16">>
!V = !tile.frag<tensor<64xi32>, #tile.layout<"register [32]; lane [1] [2] [4] [8] [16] -> row 64">>
!I = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k32 c s32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Each row: its two registers, then the four lanes that share it. Back again costs nothing.
  // CHECK-LABEL: gpu.func @rows(
  gpu.func @rows(%g: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[V0:.*]] = llvm.load
    // CHECK: %[[V1:.*]] = llvm.load
    // CHECK: %[[V2:.*]] = llvm.load
    // CHECK: %[[V3:.*]] = llvm.load
    // CHECK: %[[A0:.*]] = arith.addf %[[V0]], %[[V1]] : f32
    // CHECK: %[[A1:.*]] = arith.addf %[[V2]], %[[V3]] : f32
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
    // CHECK: nvvm.shfl.sync {{.*}}bfly %{{.*}}, %{{.*}}, %[[ONE]], %{{.*}} : i32 -> i32
    // CHECK: nvvm.shfl.sync
    // CHECK: %[[B0:.*]] = arith.addf %[[A0]], %{{.*}} : f32
    // CHECK: %[[B1:.*]] = arith.addf %[[A1]], %{{.*}} : f32
    // CHECK: %[[TWO:.*]] = llvm.mlir.constant(2 : i32) : i32
    // CHECK: nvvm.shfl.sync {{.*}}bfly %{{.*}}, %{{.*}}, %[[TWO]], %{{.*}} : i32 -> i32
    // CHECK: nvvm.shfl.sync
    // CHECK-NOT: nvvm.shfl.sync
    // CHECK: %[[C0:.*]] = arith.addf %[[B0]], %{{.*}} : f32
    // CHECK: %[[C1:.*]] = arith.addf %[[B1]], %{{.*}} : f32
    // CHECK: arith.subf %[[V0]], %[[C0]] : f32
    // CHECK: arith.subf %[[V1]], %[[C0]] : f32
    // CHECK: arith.subf %[[V2]], %[[C1]] : f32
    // CHECK: arith.subf %[[V3]], %[[C1]] : f32
    %z = arith.constant 0 : index
    %c = tile.load %g[%z, %z] : memref<16x8xf32> -> !C
    %r = tile.reduce arith.addf %c axis 1 : !C -> !R
    %e = tile.expand %r axis 1 : !R -> !E
    %b = tile.broadcast %e : !E -> !C
    %d = tile.elementwise arith.subf %c, %b : !C
    gpu.return
  }

  // Two halves a register: along the row they are taken apart, and both rows share a shuffle; along
  // the columns they stay together.
  // CHECK-LABEL: gpu.func @halves(
  gpu.func @halves(%h: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: arith.addf %{{.*}}, %{{.*}} : f16
    // CHECK: arith.addf %{{.*}}, %{{.*}} : f16
    // CHECK: nvvm.shfl.sync
    // CHECK: arith.addf %{{.*}}, %{{.*}} : vector<2xf16>
    // CHECK: nvvm.shfl.sync
    // CHECK: arith.addf %{{.*}}, %{{.*}} : vector<2xf16>
    // CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<2xf16>
    // CHECK: nvvm.shfl.sync
    // CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<2xf16>
    // CHECK: nvvm.shfl.sync
    // CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<2xf16>
    // CHECK: nvvm.shfl.sync
    // CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<2xf16>
    // CHECK-NOT: nvvm.shfl.sync
    %c = tile.fill %h : f16 -> !H
    %r = tile.reduce arith.addf %c axis 1 : !H -> !HR
    %k = tile.reduce arith.maximumf %c axis 0 : !H -> !HC
    gpu.return
  }

  // A transpose leaves registers where they are.
  // CHECK-LABEL: gpu.func @transpose(
  gpu.func @transpose(%g: memref<16x8xf16>, %h: memref<8x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK-COUNT-2: llvm.load
    // CHECK-NOT: nvvm.shfl.sync
    // CHECK-COUNT-4: llvm.store
    %z = arith.constant 0 : index
    %c = tile.load %g[%z, %z] {vector = 2} : memref<16x8xf16> -> !H
    %t = tile.transpose %c [1, 0] : !H -> !HT
    tile.store %t, %h[%z, %z] : !HT, memref<8x16xf16>
    gpu.return
  }

  // Integers of a whole warp at once, to a scalar that further ops take.
  // CHECK-LABEL: gpu.func @redux(
  gpu.func @redux(%g: memref<64xi32>, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[V:.*]] = arith.maxui %{{.*}}, %{{.*}} : i32
    // CHECK-NOT: nvvm.shfl.sync
    // CHECK: %[[R:.*]] = nvvm.redux.sync umax %[[V]], %{{.*}} : i32 -> i32
    // CHECK: arith.addi %[[R]], %{{.*}} : i32
    %z = arith.constant 0 : index
    %v = tile.load %g[%z] : memref<64xi32> -> !V
    %s = tile.reduce arith.maxui %v axis 0 : !V -> i32
    %t = arith.addi %s, %n : i32
    gpu.return
  }

  // What the lane adds to the index, and a constant for each register.
  // CHECK-LABEL: gpu.func @iota(
  gpu.func @iota(%n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[L:.*]] = arith.index_castui %{{.*}} : index to i32
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32) : i32
    // CHECK: %[[L1:.*]] = llvm.xor %[[L]], %[[ONE]] : i32
    // CHECK: arith.muli %[[L]], %[[L]] : i32
    // CHECK: arith.muli %[[L1]], %[[L1]] : i32
    %i = tile.iota axis 1 : !I
    %s = tile.elementwise arith.muli %i, %i : !I
    gpu.return
  }
}
