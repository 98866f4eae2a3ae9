// RUN: tile-opt %s --tile-stage-reductions | FileCheck %s
// RUN: tile-opt %s --tile-stage-reductions --remarks --verify-diagnostics

// 32x16, a row's 16 elements over four lanes, two registers and two warps.
!T = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,8] -> row 32, col 16">>
!R = tensor<32xf32, #tile.layout<"register [8] [16]; lane [0] [0] [1] [2] [4]; warp [0] -> row 32">>
!C = tensor<16xf32, #tile.layout<"register [1]; lane [2] [4] [0] [0] [0]; warp [8] -> row 16">>
// The warps tell bits 0 and 2 of the column apart, the registers and lanes the others.
!TM = tensor<32x16xf32, #tile.layout<"register [0,2]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp [0,1] [0,4] [16,0] -> row 32, col 16">>
!RM = tensor<32xf32, #tile.layout<"register; lane [0] [1] [2] [4] [8]; warp [0] [0] [16] -> row 32">>
// A warp has the columns of even bit sums, or those of odd ones: no whole bit of the index.
!TX = tensor<32x4xf32, #tile.layout<"register [0,3]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [0,1] -> row 32, col 4">>
!RX = tensor<32xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [0] -> row 32">>
!V = tensor<128xi32, #tile.layout<"register [64]; lane [1] [2] [4] [8] [16]; warp [32] -> row 128">>

// CHECK-DAG: #[[PARTS:[A-Za-z0-9_]+]] = #tile.layout<"register [8,0] [16,0]; lane [0,0] [0,0] [1,0] [2,0] [4,0]; warp [0,1] -> row 32, col 2">
// CHECK-DAG: #[[ALL:[A-Za-z0-9_]+]] = #tile.layout<"register [8,0] [16,0] [0,1]; lane [0,0] [0,0] [1,0] [2,0] [4,0]; warp [0,0] -> row 32, col 2">

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // What a warp has of a row first; then the two warps' parts, brought together, in registers.
  // CHECK-LABEL: gpu.func @rows(
  gpu.func @rows(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[T:.*]] = tile.fill
    // CHECK-NEXT: %[[S:.*]] = tile.reshape %[[T]] : tensor<32x16xf32, #{{.*}}> -> tensor<32x2x8xf32, #{{.*}}>
    // CHECK-NEXT: %[[P:.*]] = tile.reduce arith.addf %[[S]] axis 2 : tensor<32x2x8xf32, #{{.*}}> -> tensor<32x2xf32, #[[PARTS]]>
    // CHECK-NEXT: %[[G:.*]] = tile.convert_layout %[[P]] : tensor<32x2xf32, #[[PARTS]]> -> tensor<32x2xf32, #[[ALL]]>
    // CHECK-NEXT: tile.reduce arith.addf %[[G]] axis 1 : tensor<32x2xf32, #[[ALL]]> -> tensor<32xf32, #layout_32_b70c>
    // CHECK-NEXT: gpu.return
    %t = tile.fill %x : f32 -> !T
    // expected-remark @below {{'tile.reduce' op is over 2 warps: 256 bytes go through shared memory, after each warp has combined its part}}
    %r = tile.reduce arith.addf %t axis 1 : !T -> !R
    gpu.return
  }

  // No warp shares a column with another.
  // CHECK-LABEL: gpu.func @columns(
  gpu.func @columns(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.fill
    // CHECK-NEXT: tile.reduce arith.maximumf %{{.*}} axis 0
    // CHECK-NEXT: gpu.return
    %t = tile.fill %x : f32 -> !T
    %r = tile.reduce arith.maximumf %t axis 0 : !T -> !C
    gpu.return
  }

  // The warps' bits are brought before those of the warp itself.
  // CHECK-LABEL: gpu.func @mixed(
  gpu.func @mixed(%x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: tile.reshape %{{.*}} : tensor<32x16xf32, #{{.*}}> -> tensor<32x2x2x2x2xf32, #{{.*}}>
    // CHECK-NEXT: tile.transpose %{{.*}} [0, 2, 4, 1, 3]
    // CHECK-NEXT: tile.reshape %{{.*}} : tensor<32x2x2x2x2xf32, #{{.*}}> -> tensor<32x4x4xf32, #{{.*}}>
    // CHECK-NEXT: tile.reduce arith.addf %{{.*}} axis 2 : tensor<32x4x4xf32, #{{.*}}> -> tensor<32x4xf32, #{{.*}}>
    // CHECK-NEXT: tile.convert_layout
    // CHECK-NEXT: tile.reduce arith.addf %{{.*}} axis 1 : tensor<32x4xf32, #{{.*}}> -> tensor<32xf32, #{{.*}}>
    // CHECK-NEXT: gpu.return
    %t = tile.fill %x : f32 -> !TM
    // expected-remark @below {{is over 4 warps: 512 bytes go through shared memory, after each warp has combined its part}}
    %r = tile.reduce arith.addf %t axis 1 : !TM -> !RM
    gpu.return
  }

  // Where bits are mixed, the elements themselves are brought together.
  // CHECK-LABEL: gpu.func @swizzled(
  gpu.func @swizzled(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.fill
    // CHECK-NEXT: tile.convert_layout %{{.*}} : tensor<32x4xf32, #{{.*}}> -> tensor<32x4xf32, #{{.*}}>
    // CHECK-NEXT: tile.reduce arith.addf %{{.*}} axis 1 : tensor<32x4xf32, #{{.*}}> -> tensor<32xf32, #{{.*}}>
    // CHECK-NEXT: gpu.return
    %t = tile.fill %x : f32 -> !TX
    // expected-remark @below {{is over 2 warps: 512 bytes go through shared memory, all of it, since the warps share no whole bits of dimension 1's index}}
    %r = tile.reduce arith.addf %t axis 1 : !TX -> !RX
    gpu.return
  }

  // To a scalar, which all threads get; and a fragment, of which other warps have nothing.
  // CHECK-LABEL: gpu.func @scalar(
  gpu.func @scalar(%x: i32) -> i32 attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.reshape %{{.*}} : tensor<128xi32, #{{.*}}> -> tensor<2x2x32xi32, #{{.*}}>
    // CHECK-NEXT: tile.transpose %{{.*}} [1, 0, 2]
    // CHECK-NEXT: tile.reshape %{{.*}} : tensor<2x2x32xi32, #{{.*}}> -> tensor<2x64xi32, #{{.*}}>
    // CHECK-NEXT: tile.reduce arith.addi %{{.*}} axis 1 : tensor<2x64xi32, #{{.*}}> -> tensor<2xi32, #{{.*}}>
    // CHECK-NEXT: tile.convert_layout
    // CHECK-NEXT: %[[R:.*]] = tile.reduce arith.addi %{{.*}} axis 0 : tensor<2xi32, #{{.*}}> -> i32
    // CHECK-NEXT: gpu.return %[[R]]
    %t = tile.fill %x : i32 -> !V
    // expected-remark @below {{is over 2 warps: 8 bytes go through shared memory}}
    %r = tile.reduce arith.addi %t axis 0 : !V -> i32
    gpu.return %r : i32
  }
}
