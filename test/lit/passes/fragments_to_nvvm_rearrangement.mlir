// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s
//
// Elements go from registers to registers as whole as they can.

!Row = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [0,8] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!Four = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">>
!Eight = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16">>
!Swapped = !tile.frag<tensor<8x16xf16>, #tile.layout<"register [0,2] [0,1]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Registers that keep their pairs are renamed.
  // CHECK-LABEL: gpu.func @pairs(
  gpu.func @pairs(%x: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %r = tile.fill %x : f16 -> !Row
    %a = tile.elementwise math.exp2 %r : !Row
    // CHECK: %[[E0:.*]] = math.exp2
    // CHECK-NEXT: %[[E1:.*]] = math.exp2
    // CHECK-NEXT: %[[E2:.*]] = math.exp2
    // CHECK-NEXT: %[[E3:.*]] = math.exp2
    // CHECK-NEXT: arith.negf %[[E0]] : vector<2xf16>
    // CHECK-NEXT: arith.negf %[[E2]] : vector<2xf16>
    // CHECK-NEXT: arith.negf %[[E1]] : vector<2xf16>
    // CHECK-NEXT: arith.negf %[[E3]] : vector<2xf16>
    %b = tile.convert_layout %a : !Row -> !A
    %c = tile.elementwise arith.negf %b : !A
    gpu.return
  }

  // Two registers make the vector that is stored, and a load's vector is cut into them.
  // CHECK-LABEL: gpu.func @memory(
  gpu.func @memory(%m: memref<8x16xf16>, %n: memref<8x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: %[[L:.*]] = llvm.load %{{.*}} -> vector<4xf16>
    // CHECK-NOT: {{element|extract}}
    // CHECK: %[[P:.*]] = vector.shuffle %[[L]], %[[L]] [0, 1] : vector<4xf16>, vector<4xf16>
    // CHECK: %[[Q:.*]] = vector.shuffle %[[L]], %[[L]] [2, 3] : vector<4xf16>, vector<4xf16>
    %f = tile.load %m[%z, %z] {vector = 4 : i64} : memref<8x16xf16> -> !Four
    // CHECK-NOT: {{element|extract}}
    // CHECK: %[[S:.*]] = vector.shuffle %[[P]], %[[Q]] [0, 1, 2, 3] : vector<2xf16>, vector<2xf16>
    // CHECK-NOT: vector.shuffle
    // CHECK: llvm.store %[[S]], %{{.*}} : vector<4xf16>
    tile.store %f, %n[%z, %z] {vector = 4 : i64} : !Four, memref<8x16xf16>
    gpu.return
  }

  // Of more than two registers pairs are joined first.
  // CHECK-LABEL: gpu.func @wide(
  gpu.func @wide(%x: f16, %n: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %f = tile.fill %x : f16 -> !Eight
    // CHECK: %[[E0:.*]] = math.exp2
    // CHECK: %[[E1:.*]] = math.exp2
    // CHECK: %[[E2:.*]] = math.exp2
    // CHECK: %[[E3:.*]] = math.exp2
    %e = tile.elementwise math.exp2 %f : !Eight
    // CHECK-DAG: %[[LOW:.*]] = vector.shuffle %[[E0]], %[[E1]] [0, 1, 2, 3] : vector<2xf16>, vector<2xf16>
    // CHECK-DAG: %[[HIGH:.*]] = vector.shuffle %[[E2]], %[[E3]] [0, 1, 2, 3] : vector<2xf16>, vector<2xf16>
    // CHECK: %[[ALL:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf16>, vector<4xf16>
    // CHECK: llvm.store %[[ALL]], %{{.*}} : vector<8xf16>
    tile.store %e, %n[%z, %z] {vector = 8 : i64} : !Eight, memref<16x16xf16>
    gpu.return
  }

  // Halves of two registers change places.
  // CHECK-LABEL: gpu.func @apart(
  gpu.func @apart(%x: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %f = tile.fill %x : f16 -> !Four
    // CHECK: %[[E0:.*]] = math.exp2
    // CHECK-NEXT: %[[E1:.*]] = math.exp2
    // CHECK-NEXT: %[[LOW:.*]] = vector.shuffle %[[E0]], %[[E1]] [0, 2] : vector<2xf16>, vector<2xf16>
    // CHECK-NEXT: %[[HIGH:.*]] = vector.shuffle %[[E0]], %[[E1]] [1, 3] : vector<2xf16>, vector<2xf16>
    // CHECK-NEXT: arith.negf %[[LOW]]
    // CHECK-NEXT: arith.negf %[[HIGH]]
    %e = tile.elementwise math.exp2 %f : !Four
    %s = tile.convert_layout %e : !Four -> !Swapped
    %n = tile.elementwise arith.negf %s : !Swapped
    gpu.return
  }
}
