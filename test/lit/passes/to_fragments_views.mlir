// RUN: tile-opt %s --tile-to-fragments | FileCheck %s

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!R = tensor<32xf32, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4]; warp [16] -> row 32">>
!E = tensor<32x1xf32, #tile.layout<"register [8,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 1">>
!TT = tensor<8x32xf32, #tile.layout<"register [1,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,16] -> row 8, col 32">>
!TI = tensor<32x8xi32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!A = tensor<32x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!B = tensor<16x16xf16, #tile.layout<"register [1,0] [8,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 16, col 16">>
!C = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Each op on what a warp holds.
  // CHECK-LABEL: gpu.func @views(
  gpu.func @views(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[T:.*]] = tile.fill %{{.*}} : f32 -> ![[TYT:[A-Za-z0-9_]+]]{{$}}
    // CHECK-NEXT: %[[R:.*]] = tile.reduce arith.addf %[[T]] axis 1 : ![[TYT]] -> ![[TYR:[A-Za-z0-9_]+]]{{$}}
    // CHECK-NEXT: %[[E:.*]] = tile.expand %[[R]] axis 1 : ![[TYR]] -> ![[TYE:[A-Za-z0-9_]+]]{{$}}
    // CHECK-NEXT: tile.broadcast %[[E]] : ![[TYE]] -> ![[TYT]]{{$}}
    // CHECK-NEXT: tile.transpose %[[T]] [1, 0]
    %t = tile.fill %x : f32 -> !T
    %r = tile.reduce arith.addf %t axis 1 : !T -> !R
    %e = tile.expand %r axis 1 : !R -> !E
    %b = tile.broadcast %e : !E -> !T
    %u = tile.transpose %t [1, 0] : !T -> !TT
    gpu.return
  }

  // A warp's indices are those of the first, changed by where its own begin.
  // CHECK-LABEL: gpu.func @iota(
  gpu.func @iota() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[I:.*]] = tile.iota axis 0 : ![[TYI:[A-Za-z0-9_]+]]{{$}}
    // CHECK: %[[W:.*]] = tile.fill %{{.*}} : i32 -> ![[TYI]]{{$}}
    // CHECK-NEXT: tile.elementwise arith.xori %[[I]], %[[W]]
    // CHECK-NEXT: tile.iota axis 1
    // CHECK-NEXT: gpu.return
    %i = tile.iota axis 0 : !TI
    %j = tile.iota axis 1 : !TI
    gpu.return
  }

  // The accumulators of a dot are joined for it, and cut again.
  // CHECK-LABEL: gpu.func @accumulators(
  gpu.func @accumulators(%h: f16, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.mma
    // CHECK-NEXT: %[[D:.*]] = tile.mma
    // CHECK-NEXT: %[[J:.*]] = tile.concat %{{.*}}, %[[D]]
    // CHECK-NEXT: %[[R:.*]] = tile.reduce arith.maximumf %[[J]] axis 1
    // CHECK-NEXT: %[[E:.*]] = tile.expand %[[R]] axis 1
    // CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[E]]
    // CHECK-NEXT: %[[S:.*]] = tile.slice %[[B]][0]
    // CHECK-NEXT: tile.slice %[[B]][1]
    // CHECK-NEXT: tile.elementwise arith.subf %{{.*}}, %[[S]]
    %a = tile.fill %h : f16 -> !A
    %b = tile.fill %h : f16 -> !B
    %c = tile.fill %x : f32 -> !C
    %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    %m = tile.reduce arith.maximumf %d axis 1 : !C -> !R
    %e = tile.expand %m axis 1 : !R -> !E
    %w = tile.broadcast %e : !E -> !C
    %s = arith.subf %d, %w : !C
    gpu.return
  }
}
