// RUN: tile-opt %s --tile-unroll | FileCheck %s

!T = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 8">>

gpu.module @m {
  // Two rounds in one, values carried from one to the next; then the rounds that are left. A loop
  // that counts up to less than it begins with has no round.
  // CHECK-LABEL: gpu.func @dynamic(
  // CHECK-SAME: %[[A:[A-Za-z0-9_]+]]: memref<16x8xf32>, %[[LOWER:[A-Za-z0-9_]+]]: index, %[[UPPER:[A-Za-z0-9_]+]]: index)
  gpu.func @dynamic(%a: memref<16x8xf32>, %lower: index, %upper: index) kernel {
    // CHECK: arith.maxsi %[[LOWER]], %[[UPPER]]
    // CHECK: %[[MOST:.*]] = scf.for %{{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
    // CHECK-NEXT: %[[S0:.*]] = arith.addf %[[ACC]], %[[ACC]]
    // CHECK-NEXT: %[[S1:.*]] = arith.addf %[[S0]], %[[S0]]
    // CHECK-NEXT: scf.yield %[[S1]]
    // CHECK: %[[ALL:.*]] = scf.for %{{.*}} iter_args(%[[REST:.*]] = %[[MOST]])
    // CHECK-NEXT: %[[S2:.*]] = arith.addf %[[REST]], %[[REST]]
    // CHECK-NEXT: scf.yield %[[S2]]
    // CHECK-NOT: tile.unroll
    // CHECK: tile.store %[[ALL]],
    %z = arith.constant 0 : index
    %step = arith.constant 3 : index
    %zero = arith.constant dense<0.0> : !T
    %r = scf.for %i = %lower to %upper step %step iter_args(%acc = %zero) -> (!T) {
      %s = arith.addf %acc, %acc : !T
      scf.yield %s : !T
    } {tile.unroll = 2 : i64}
    tile.store %r, %a[%z, %z] : !T, memref<16x8xf32>
    gpu.return
  }

  // Inner loops first. Here no rounds are left.
  // CHECK-LABEL: gpu.func @nest(
  gpu.func @nest(%a: memref<16x8xf32>) kernel {
    // CHECK: scf.for
    // CHECK-COUNT-8: tile.store
    // CHECK-NOT: tile.store
    // CHECK: gpu.return
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant dense<0.0> : !T
    scf.for %i = %z to %c4 step %c1 {
      scf.for %j = %z to %c4 step %c1 {
        tile.store %zero, %a[%z, %z] : !T, memref<16x8xf32>
      } {tile.unroll = 4 : i64}
    } {tile.unroll = 2 : i64}
    scf.for %i = %z to %c4 step %c1 {
    } {tile.unroll = 1 : i64}
    gpu.return
  }
}
