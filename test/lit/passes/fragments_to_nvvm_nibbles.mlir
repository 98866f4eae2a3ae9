// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

// Parts of a register of nibbles are its halves: no element is taken out by itself.

!Part = !tile.frag<tensor<8x16xi4>, #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">>
!Whole = !tile.frag<tensor<8x32xi4>, #tile.layout<"register [0,1] [0,2] [0,16]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @halves(
  gpu.func @halves(%m: memref<8x16xi8>, %n: memref<8x8xi8>, %o: memref<8x16xi8>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %w = tile.load %m[%z, %z] : memref<8x16xi8> -> !Whole
    // CHECK: %[[W:.*]] = llvm.bitcast %{{.*}} : vector<8xi4> to vector<2xi16>
    // CHECK-NOT: llvm.lshr
    // CHECK: %[[H:.*]] = vector.extract %[[W]][1]
    // CHECK: llvm.bitcast %[[H]] : i16 to vector<4xi4>
    %p = tile.slice %w[1] : !Whole -> !Part
    tile.store %p, %n[%z, %z] : !Part, memref<8x8xi8>
    // CHECK: vector.from_elements %{{.*}} : vector<2xi16>
    // CHECK: llvm.bitcast %{{.*}} : vector<2xi16> to vector<8xi4>
    %q = tile.concat %p, %p : !Part -> !Whole
    tile.store %q, %o[%z, %z] : !Whole, memref<8x16xi8>
    gpu.return
  }
}
