// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!T = !tile.frag<tensor<128xf32>, #tile.layout<"register [1] [64]; lane [2] [4] [8] [16] [32] -> row 128">>
!H = !tile.frag<tensor<64xf16>, #tile.layout<"register [1]; lane [2] [4] [8] [16] [32] -> row 64">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @takes(
  gpu.func @takes(%a: memref<128xf32>, %h: memref<64xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.load %a[%z] : memref<128xf32> -> !T
    // Registers alone are renamed.
    // CHECK-NOT: shfl
    %0 = tile.take %t axis 0 keep -1 flip 65 : !T -> !T
    // CHECK: llvm.store
    tile.store %0, %a[%z] : !T, memref<128xf32>
    // Lanes exchange; each register goes once.
    // CHECK-COUNT-4: nvvm.shfl.sync bfly
    // CHECK-NOT: shfl
    %1 = tile.take %t axis 0 keep -1 flip 2 : !T -> !T
    // CHECK: llvm.store
    tile.store %1, %a[%z] : !T, memref<128xf32>
    // The last of each half of 64, for all of it: two registers, from lane 31.
    // CHECK-COUNT-2: nvvm.shfl.sync idx
    // CHECK-NOT: shfl
    %2 = tile.take %t axis 0 keep -64 flip 63 : !T -> !T
    // CHECK: llvm.store
    tile.store %2, %a[%z] : !T, memref<128xf32>
    // Halves go two at once, in the other order.
    %p = tile.load %h[%z] : memref<64xf16> -> !H
    // CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 0] : vector<2xf16>, vector<2xf16>
    // CHECK-COUNT-1: nvvm.shfl.sync bfly
    // CHECK-NOT: shfl
    %3 = tile.take %p axis 0 keep -1 flip 63 : !H -> !H
    // CHECK: llvm.store
    tile.store %3, %h[%z] : !H, memref<64xf16>
    gpu.return
  }
}
