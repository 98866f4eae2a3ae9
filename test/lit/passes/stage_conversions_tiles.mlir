// RUN: tile-opt %s --tile-stage-conversions --verify-each | FileCheck %s

!V = tensor<64xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64">>
!ALL = tensor<64xf32, #tile.layout<"register [32]; lane [1] [2] [4] [8] [16]; warp [0] -> row 64">>
!VR = tensor<64xf32, #tile.layout<"register; lane [32] [2] [4] [8] [16]; warp [1] -> row 64">>
!B = tensor<2x8x8xf32, #tile.layout<"register [0,0,1]; lane [0,0,2] [0,0,4] [0,1,0] [0,2,0] [0,4,0]; warp [1,0,0] -> slice 2, row 8, col 8">>
!BR = tensor<2x8x8xf32, #tile.layout<"register [1,0,0]; lane [0,0,2] [0,0,4] [0,1,0] [0,2,0] [0,4,0]; warp [0,0,1] -> slice 2, row 8, col 8">>
!N = tensor<32x16xi4, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!NR = tensor<32x16xi4, #tile.layout<"register [0,1] [0,2] [16,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 16">>
!F = tensor<16x16xf4E2M1FN, #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [8,0] -> row 16, col 16">>
!FR = tensor<16x16xf4E2M1FN, #tile.layout<"register [0,1] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [0,2] -> row 16, col 16">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // What is not a matrix goes through shared memory as one.
  // CHECK-LABEL: gpu.func @vector(
  gpu.func @vector(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[S:.*]] = tile.alloc_shared : memref<1x64xf32,
    // CHECK: %[[T:.*]] = tile.fill
    // CHECK: %[[M:.*]] = tile.reshape %[[T]] : tensor<64xf32, {{.*}}> -> tensor<1x64xf32,
    // CHECK: tile.store %[[M]], %[[S]][
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: %[[R:.*]] = tile.load %[[S]][
    // CHECK-NEXT: tile.reshape %[[R]] : tensor<1x64xf32, {{.*}}> -> tensor<64xf32,
    %t = tile.fill %x : f32 -> !V
    %r = tile.convert_layout %t : !V -> !VR
    gpu.return
  }

  // CHECK-LABEL: gpu.func @batch(
  gpu.func @batch(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.alloc_shared : memref<16x8xf32,
    // CHECK: tile.reshape %{{.*}} : tensor<2x8x8xf32, {{.*}}> -> tensor<16x8xf32,
    // CHECK: tile.reshape %{{.*}} : tensor<16x8xf32, {{.*}}> -> tensor<2x8x8xf32,
    %t = tile.fill %x : f32 -> !B
    %r = tile.convert_layout %t : !B -> !BR
    gpu.return
  }

  // What has no address of its own goes as bytes.
  // CHECK-LABEL: gpu.func @nibbles(
  gpu.func @nibbles(%x: i4) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.alloc_shared : memref<32x16xi8,
    // CHECK: %[[W:.*]] = arith.extui %{{.*}} : tensor<32x16xi4, {{.*}}> to tensor<32x16xi8,
    // CHECK: tile.store %[[W]],
    // CHECK: %[[L:.*]] = tile.load
    // CHECK: arith.trunci %[[L]] : tensor<32x16xi8, {{.*}}> to tensor<32x16xi4,
    %t = tile.fill %x : i4 -> !N
    %r = tile.convert_layout %t : !N -> !NR
    gpu.return
  }

  // CHECK-LABEL: gpu.func @floats(
  gpu.func @floats(%x: f4E2M1FN) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.alloc_shared : memref<16x16xi8,
    // CHECK: %[[C:.*]] = arith.bitcast %{{.*}} : tensor<16x16xf4E2M1FN, {{.*}}> to tensor<16x16xi4,
    // CHECK: %[[W:.*]] = arith.extui %[[C]]
    // CHECK: tile.store %[[W]],
    // CHECK: %[[L:.*]] = tile.load
    // CHECK: %[[N:.*]] = arith.trunci %[[L]]
    // CHECK: arith.bitcast %[[N]] : tensor<16x16xi4, {{.*}}> to tensor<16x16xf4E2M1FN,
    %t = tile.fill %x : f4E2M1FN -> !F
    %r = tile.convert_layout %t : !F -> !FR
    gpu.return
  }

  // Who holds what depends on the warp, though no other warp is asked: not for registers.
  // CHECK-LABEL: gpu.func @part_of_copies(
  gpu.func @part_of_copies(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.alloc_shared : memref<1x64xf32,
    // CHECK-NOT: tile.convert_layout
    %t = tile.fill %x : f32 -> !ALL
    %r = tile.convert_layout %t : !ALL -> !V
    gpu.return
  }
}
