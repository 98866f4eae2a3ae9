// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!F32 = !tile.frag<tensor<8x8xf32>, #tile.layout<"m8n8k4 c f64">>
!T32 = !tile.frag<tensor<8x8xtf32>, #tile.layout<"m8n8k4 c f64">>
!F16 = !tile.frag<tensor<8x8xf16>, #tile.layout<"m8n8k4 c f64">>
!BF16 = !tile.frag<tensor<8x8xbf16>, #tile.layout<"m8n8k4 c f64">>
!E4M3 = !tile.frag<tensor<8x8xf8E4M3FN>, #tile.layout<"m8n8k4 c f64">>
!E5M2 = !tile.frag<tensor<8x8xf8E5M2>, #tile.layout<"m8n8k4 c f64">>
!E2M1 = !tile.frag<tensor<8x8x!tile.byte<f4E2M1FN>>, #tile.layout<"m8n8k4 c f64">>
!P2M1 = !tile.frag<tensor<8x8xf4E2M1FN>, #tile.layout<"m8n8k4 c f64">>
!I4 = !tile.frag<tensor<8x8xi4>, #tile.layout<"m8n8k4 c f64">>

// Without the instructions: integer arithmetic, and one rounding by an addition.
gpu.module @sequences [#nvvm.target<chip = "sm_75">] {
  // CHECK-LABEL: gpu.func @narrow(
  gpu.func @narrow(%m: memref<8x8xf32>, %n: memref<8x8xi8>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %f = tile.load %m[%z, %z] : memref<8x8xf32> -> !F32
    // The bits of 448, the largest number, and of the smallest normal one.
    // CHECK: %[[BITS:.*]] = llvm.bitcast %{{.*}} : f32 to i32
    // CHECK: %[[A:.*]] = arith.andi %[[BITS]], %c2147483647_i32
    // CHECK: %[[C:.*]] = arith.minui %[[A]], %c1138753536_i32
    // CHECK: %[[E:.*]] = arith.andi %[[C]], %c2139095040_i32
    // CHECK: %[[P:.*]] = arith.maxui %[[E]], %c1015021568_i32
    // CHECK: %[[Q:.*]] = arith.addi %[[P]], %c167772160_i32
    // CHECK: %[[MAGIC:.*]] = llvm.bitcast %[[Q]] : i32 to f32
    // CHECK: %[[V:.*]] = llvm.bitcast %[[C]] : i32 to f32
    // CHECK: %[[S:.*]] = arith.addf %[[V]], %[[MAGIC]] : f32
    // CHECK: %[[R:.*]] = arith.subf %[[S]], %[[MAGIC]] : f32
    // CHECK: arith.mulf %[[R]], %{{.*}} : f32
    // A NaN becomes 0x7f.
    // CHECK: %[[NAN:.*]] = arith.cmpi ugt, %[[A]], %{{.*}} : i32
    // CHECK: arith.select %[[NAN]], %c127_i32
    %e = tile.cast arith.truncf %f : !F32 to !E4M3
    tile.store %e, %n[%z, %z] : !E4M3, memref<8x8xi8>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @widen(
  gpu.func @widen(%m: memref<8x8xi8>, %n: memref<8x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %e = tile.load %m[%z, %z] : memref<8x8xi8> -> !E4M3
    // CHECK: %[[WORD:.*]] = llvm.call @llvm.nvvm.prmt(%{{.*}}, %{{.*}}, %c5124_i32)
    // CHECK: %[[MAG:.*]] = arith.andi %[[WORD]], %c2130738944_i32
    // CHECK: arith.shrui %[[MAG]], %c1_i32
    // CHECK: arith.constant dense<2.560000e+02> : vector<2xf16>
    // CHECK: arith.mulf %{{.*}} : vector<2xf16>
    %f = tile.cast arith.extf %e : !E4M3 to !F16
    tile.store %f, %n[%z, %z] : !F16, memref<8x8xf16>
    gpu.return
  }

  // e5m2 is the upper half of f16.
  // CHECK-LABEL: gpu.func @widen_by_a_shift(
  gpu.func @widen_by_a_shift(%m: memref<8x8xi8>, %n: memref<8x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %e = tile.load %m[%z, %z] : memref<8x8xi8> -> !E5M2
    // CHECK: llvm.call @llvm.nvvm.prmt
    // CHECK-NOT: arith.mulf
    // CHECK: llvm.store
    %f = tile.cast arith.extf %e : !E5M2 to !F16
    tile.store %f, %n[%z, %z] : !F16, memref<8x8xf16>
    gpu.return
  }

  // Integers become mantissa bits of 1024, the upper of a byte's two as sixteen times itself; their
  // sign bits are turned over: 1032 is taken off.
  // CHECK-LABEL: gpu.func @integers(
  gpu.func @integers(%m: memref<8x4xi8>, %n: memref<8x8xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %i = tile.load %m[%z, %z] : memref<8x4xi8> -> !I4
    // CHECK: %[[X:.*]] = arith.xori %{{.*}}, %c-2004318072_i32
    // CHECK: %[[P:.*]] = llvm.call @llvm.nvvm.prmt(%[[X]], %c100_i32,
    // CHECK: %[[A:.*]] = arith.andi %[[P]], %c-983281_i32
    // CHECK: %[[H:.*]] = llvm.bitcast %[[A]] : i32 to vector<2xf16>
    // CHECK: arith.constant dense<[1.000000e+00, 6.250000e-02]> : vector<2xf16>
    // CHECK: arith.constant dense<[-1.032000e+03, -7.200000e+01]> : vector<2xf16>
    // CHECK: llvm.intr.fma(%[[H]],
    %f = tile.cast arith.sitofp %i : !I4 to !F16
    tile.store %f, %n[%z, %z] : !F16, memref<8x8xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tf32(
  gpu.func @tf32(%m: memref<8x8xf32>, %n: memref<8x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %f = tile.load %m[%z, %z] : memref<8x8xf32> -> !F32
    // CHECK: arith.addi %{{.*}}, %c4096_i32
    // CHECK: arith.andi %{{.*}}, %c-8192_i32
    %t = tile.cast arith.truncf %f : !F32 to !T32
    tile.store %t, %n[%z, %z] : !T32, memref<8x8xf32>
    gpu.return
  }
}

gpu.module @instructions [#nvvm.target<chip = "sm_100a">] {
  // CHECK-LABEL: gpu.func @narrow(
  gpu.func @narrow(%m: memref<8x8xf32>, %n: memref<8x8xi8>, %o: memref<8x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %f = tile.load %m[%z, %z] : memref<8x8xf32> -> !F32
    // CHECK: llvm.call @llvm.nvvm.ff.to.e4m3x2.rn(%{{.*}}, %{{.*}}) : (f32, f32) -> i16
    %e = tile.cast arith.truncf %f : !F32 to !E4M3
    tile.store %e, %n[%z, %z] : !E4M3, memref<8x8xi8>
    // From f16 and to it there are instructions, too.
    // CHECK: llvm.call @llvm.nvvm.e4m3x2.to.f16x2.rn(%{{.*}}) : (i16) -> vector<2xf16>
    // CHECK-NEXT: llvm.call @llvm.nvvm.f16x2.to.e5m2x2.rn(%{{.*}}) : (vector<2xf16>) -> i16
    %g = tile.cast arith.convertf %e : !E4M3 to !E5M2
    tile.store %g, %n[%z, %z] : !E5M2, memref<8x8xi8>
    // Two elements of 4 bits come in one byte; here each has its own, in bits 5 to 2.
    // CHECK: %[[C:.*]] = llvm.call @llvm.nvvm.ff.to.e2m1x2.rn.satfinite(%{{.*}}, %{{.*}}) : (f32, f32) -> i16
    // CHECK: arith.andi %{{.*}}, %c15_i32
    // CHECK: arith.shli %{{.*}}, %c2_i32
    %b = tile.cast arith.truncf %f : !F32 to !E2M1
    tile.store %b, %n[%z, %z] : !E2M1, memref<8x8xi8>
    // CHECK-COUNT-2: llvm.call @llvm.nvvm.f2tf32.rna(%{{.*}}) : (f32) -> i32
    %t = tile.cast arith.truncf %f : !F32 to !T32
    tile.store %t, %o[%z, %z] : !T32, memref<8x8xf32>
    gpu.return
  }

  // bf16 comes from f16 by way of f32.
  // CHECK-LABEL: gpu.func @widen(
  gpu.func @widen(%m: memref<8x4xi8>, %n: memref<8x8xbf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %e = tile.load %m[%z, %z] : memref<8x4xi8> -> !P2M1
    // CHECK: %[[H:.*]] = llvm.call @llvm.nvvm.e2m1x2.to.f16x2.rn(%{{.*}}) : (i16) -> vector<2xf16>
    // CHECK-NEXT: %[[F:.*]] = arith.extf %[[H]] : vector<2xf16> to vector<2xf32>
    // CHECK-NEXT: arith.truncf %[[F]] : vector<2xf32> to vector<2xbf16>
    %f = tile.cast arith.extf %e : !P2M1 to !BF16
    tile.store %f, %n[%z, %z] : !BF16, memref<8x8xbf16>
    gpu.return
  }
}
