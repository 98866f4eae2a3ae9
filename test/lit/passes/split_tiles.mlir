// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-split-tiles)' | FileCheck %s

#L = #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] -> row 64, col 64">
#R = #tile.layout<"register [8]; lane [0] [0] [1] [2] [4]; warp [16] [32] -> row 64">
!T = tensor<64x192xf32, #L>
!H = tensor<64x192xf16, #L>

gpu.module @m [#nvvm.target<chip = "sm_90">] {
  // Loads and stores of each unit, at its place, no wider than that; what goes element by element.
  // CHECK-LABEL: gpu.func @elementwise(
  // CHECK: %[[A:.*]] = tile.load %{{.*}}[%[[I:.*]], %[[J:.*]]] masked {vector = 8 : i64}
  // CHECK: %[[C64:.*]] = arith.constant 64 : index
  // CHECK: %[[J1:.*]] = arith.addi %[[J]], %[[C64]]
  // CHECK: %[[B:.*]] = tile.load %{{.*}}[%[[I]], %[[J1]]] masked {vector = 8 : i64}
  // CHECK: arith.constant 128 : index
  // CHECK: %[[C:.*]] = tile.load
  // CHECK: arith.mulf %[[A]], %[[A]]
  // CHECK: arith.mulf %[[B]], %[[B]]
  // CHECK: arith.mulf %[[C]], %[[C]]
  // CHECK-COUNT-3: arith.truncf
  // CHECK-COUNT-3: tile.store
  // CHECK-NOT: 192
  gpu.func @elementwise(%a: memref<?x?xf32>, %d: memref<?x?xf16>, %i: index, %j: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = tile.load %a[%i, %j] masked {vector = 8 : i64} : memref<?x?xf32> -> !T
    %u = arith.mulf %t, %t : !T
    %h = arith.truncf %u : !T to !H
    tile.store %h, %d[%i, %j] masked : !H, memref<?x?xf16>
    gpu.return
  }

  // Along the axis of several units a reduction first combines these.
  // CHECK-LABEL: gpu.func @reduce(
  // CHECK: %[[A:.*]] = tile.load
  // CHECK: %[[B:.*]] = tile.load
  // CHECK: %[[C:.*]] = tile.load
  // CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[B]]
  // CHECK: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]]
  // CHECK: tile.reduce arith.addf %[[ABC]] axis 1
  // CHECK-NOT: tile.reduce
  gpu.func @reduce(%a: memref<?x?xf32>, %d: memref<64xf32>, %i: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = tile.load %a[%i, %i] masked : memref<?x?xf32> -> !T
    %s = tile.reduce arith.addf %t axis 1 : !T -> tensor<64xf32, #R>
    %z = arith.constant 0 : index
    tile.store %s, %d[%z] : tensor<64xf32, #R>, memref<64xf32>
    gpu.return
  }

  // Loops hand on the units; indices count from where a unit begins.
  // CHECK-LABEL: gpu.func @loop(
  // CHECK: %[[F:.*]] = tile.iota axis 1
  // CHECK: %[[C64:.*]] = arith.constant 64 : i32
  // CHECK: %[[M:.*]] = tile.fill %[[C64]]
  // CHECK: %[[S:.*]] = arith.addi %[[F]], %[[M]]
  // CHECK: %[[L:.*]]:3 = scf.for {{.*}} iter_args(%{{.*}} = %[[F]], %{{.*}} = %[[S]], %{{.*}} = %{{.*}})
  // CHECK-COUNT-3: arith.addi
  // CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}} :
  gpu.func @loop(%d: memref<64x192xi32>, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 0 : index
    %o = arith.constant 1 : index
    %t = tile.iota axis 1 : tensor<64x192xi32, #L>
    %r = scf.for %i = %z to %n step %o iter_args(%s = %t) -> (tensor<64x192xi32, #L>) {
      %u = arith.addi %s, %s : tensor<64x192xi32, #L>
      scf.yield %u : tensor<64x192xi32, #L>
    }
    tile.store %r, %d[%z, %z] : tensor<64x192xi32, #L>, memref<64x192xi32>
    gpu.return
  }

  // What has powers of two stays.
  // CHECK-LABEL: gpu.func @whole(
  // CHECK-NEXT: tile.fill {{.*}} -> {{.*}}
  // CHECK-NEXT: gpu.return
  gpu.func @whole(%x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = tile.fill %x : f32 -> tensor<64x64xf32, #L>
    gpu.return
  }
}
