// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"register [8,0] [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
!X = !tile.frag<tensor<16x8xf32>, #tile.layout<"register [0,1] [8,0]; lane [0,4] [0,2] [1,0] [2,0] [4,0] -> row 16, col 8">>
!H = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
!HT = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // The same lanes: registers are renamed.
  // CHECK-LABEL: gpu.func @registers(
  gpu.func @registers(%g: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[V0:.*]] = llvm.load
    // CHECK: %[[V1:.*]] = llvm.load
    // CHECK: %[[V2:.*]] = llvm.load
    // CHECK: %[[V3:.*]] = llvm.load
    // CHECK-NOT: shfl
    // CHECK: %[[N0:.*]] = arith.negf %[[V0]] : f32
    // CHECK: %[[N1:.*]] = arith.negf %[[V2]] : f32
    // CHECK: %[[N2:.*]] = arith.negf %[[V1]] : f32
    // CHECK: %[[N3:.*]] = arith.negf %[[V3]] : f32
    %z = arith.constant 0 : index
    %c = tile.load %g[%z, %z] : memref<16x8xf32> -> !C
    %p = tile.convert_layout %c : !C -> !P
    %n = tile.elementwise arith.negf %p : !P
    gpu.return
  }

  // Two lane bits change places: each lane reads from the one whose bits 0 and 1 are its own 1 and 0.
  // CHECK-LABEL: gpu.func @shuffles(
  gpu.func @shuffles(%g: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31 : index
    // CHECK: arith.shli
    // CHECK: %[[B0:.*]] = arith.andi %[[LANE]], %c1_{{.*}} : index
    // CHECK: %[[UP:.*]] = arith.shli %[[B0]], %{{.*}} : index
    // CHECK: %[[HIGH:.*]] = arith.shrui %[[LANE]], %{{.*}} : index
    // CHECK: %[[DOWN:.*]] = arith.andi %[[HIGH]], %{{.*}} : index
    // CHECK: %[[LOW:.*]] = arith.xori %[[UP]], %[[DOWN]] : index
    // CHECK: %[[REST:.*]] = arith.shli %{{.*}}, %{{.*}} : index
    // CHECK: %[[FROM:.*]] = arith.xori %[[LOW]], %[[REST]] : index
    // CHECK: %[[V0:.*]] = llvm.load
    // CHECK: %[[I0:.*]] = llvm.bitcast %[[V0]] : f32 to i32
    // CHECK: %[[AT:.*]] = arith.index_castui %[[FROM]] : index to i32
    // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32) : i32
    // CHECK: %[[OTHER:.*]] = llvm.xor %[[AT]], %[[ZERO]] : i32
    // CHECK: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32) : i32
    // CHECK: %[[CLAMP:.*]] = llvm.mlir.constant(31 : i32) : i32
    // CHECK: %[[R0:.*]] = nvvm.shfl.sync {{.*}}idx %[[ALL]], %[[I0]], %[[OTHER]], %[[CLAMP]] : i32 -> i32
    // CHECK: llvm.bitcast %[[R0]] : i32 to f32
    // CHECK-COUNT-3: nvvm.shfl.sync
    // CHECK-NOT: nvvm.shfl.sync
    %z = arith.constant 0 : index
    %c = tile.load %g[%z, %z] : memref<16x8xf32> -> !C
    %x = tile.convert_layout %c : !C -> !X
    gpu.return
  }

  // The transpose of 8x8 halves is an instruction.
  // CHECK-LABEL: gpu.func @transpose(
  gpu.func @transpose(%h: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[I:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
    // CHECK: %[[T:.*]] = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %[[I]] : (i32) -> i32
    // CHECK: llvm.bitcast %[[T]] : i32 to vector<2xf16>
    %f = tile.fill %h : f16 -> !H
    %t = tile.convert_layout %f : !H -> !HT
    gpu.return
  }
}
