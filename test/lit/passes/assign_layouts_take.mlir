// RUN: tile-opt %s --tile-assign-layouts | FileCheck %s

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Each warp has all of what it takes elements from; a conversion lets loads and stores be wide.
  // CHECK-LABEL: gpu.func @apart(
  gpu.func @apart(%m: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: tile.load %{{.*}} : memref<?xf32> -> tensor<256xf32, [[WIDE:#.*]]>
    %t = tile.load %m[%z] {vector = 4 : i64} : memref<?xf32> -> tensor<256xf32>
    // CHECK: tile.convert_layout %{{.*}} : tensor<256xf32, [[WIDE]]> -> tensor<256xf32, [[OWN:#.*]]>
    %c = tile.convert_layout %t : tensor<256xf32> -> tensor<256xf32>
    // CHECK: tile.take %{{.*}} axis 0 keep -1 flip 128 : tensor<256xf32, [[OWN]]> -> tensor<256xf32, [[OWN]]>
    %u = tile.take %c axis 0 keep -1 flip 128 : tensor<256xf32> -> tensor<256xf32>
    // CHECK: arith.addf %{{.*}} : tensor<256xf32, [[OWN]]>
    %s = arith.addf %u, %c : tensor<256xf32>
    %d = tile.convert_layout %s : tensor<256xf32> -> tensor<256xf32>
    // CHECK: tile.store %{{.*}} : tensor<256xf32, [[WIDE]]>, memref<?xf32>
    tile.store %d, %m[%z] {vector = 4 : i64} : tensor<256xf32>, memref<?xf32>
    gpu.return
  }

  // What a product gives is converted before and after where its layout does not allow it.
  // CHECK-LABEL: gpu.func @pinned(
  gpu.func @pinned(%x: f32, %m: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.load %m[%z, %z] {tile.layout = #tile.layout<"register [0,1]; lane [0,2] [0,4] [0,8] [1,0] [2,0]; warp [4,0] -> row 8, col 16">} : memref<?x?xf32> -> tensor<8x16xf32>
    // CHECK: %[[IN:.*]] = tile.convert_layout %{{.*}} : tensor<8x16xf32, [[PIN:#.*]]> -> tensor<8x16xf32, [[OWN:#.*]]>
    // CHECK: %[[OUT:.*]] = tile.take %[[IN]] axis 0 keep -1 flip 7 : tensor<8x16xf32, [[OWN]]>
    // CHECK: tile.convert_layout %[[OUT]] : tensor<8x16xf32, [[OWN]]> -> tensor<8x16xf32, [[PIN]]>
    %u = tile.take %t axis 0 keep -1 flip 7 : tensor<8x16xf32> -> tensor<8x16xf32>
    // Along the other dimension it does.
    // CHECK-NOT: tile.convert_layout
    // CHECK: tile.take %{{.*}} axis 1 keep -1 flip 1 : tensor<8x16xf32, [[PIN]]>
    %v = tile.take %t axis 1 keep -1 flip 1 : tensor<8x16xf32> -> tensor<8x16xf32>
    %s = arith.addf %u, %v : tensor<8x16xf32>
    tile.store %s, %m[%z, %z] : tensor<8x16xf32>, memref<?x?xf32>
    gpu.return
  }
}
