// RUN: tile-opt %s --tile-pipeline | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-pipeline{stages=2})' | FileCheck %s --check-prefix=TWO

!A = tensor<64x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">>
!G = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x32xf16, #tile.shared<"64B">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Rounds 0 and 1 before the loop, if there are as many; in a round the copies of two rounds on.
  // CHECK-LABEL: gpu.func @dynamic(
  // TWO-LABEL: gpu.func @dynamic(
  gpu.func @dynamic(%a: !G, %b: !G, %lower: index, %upper: index, %step: index)
      kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-SAME: %[[A:[A-Za-z0-9_]+]]: memref<{{[^:]*}}: memref<{{[^:]*}}, %[[LOWER:[A-Za-z0-9_]+]]: index, %[[UPPER:[A-Za-z0-9_]+]]: index, %[[STEP:[A-Za-z0-9_]+]]: index)
    // CHECK-NEXT: %[[S:.*]] = tile.alloc_shared : memref<3x64x32xf16, #tile.shared<"64B">>
    // TWO: tile.alloc_shared : memref<2x64x32xf16, #tile.shared<"64B">>
    // CHECK-NOT: gpu.barrier
    // CHECK: %[[ANY0:.*]] = arith.cmpi slt, %[[LOWER]], %[[UPPER]]
    // CHECK-NEXT: scf.if %[[ANY0]] {
    // CHECK: tile.async_copy %[[A]][%{{.*}}, %[[LOWER]]] to %[[S]][%{{.*}}, %{{.*}}, %{{.*}}] shape [64, 32] masked {vector = 8 : i64}
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.async_commit
    // CHECK: %[[MORE:.*]] = arith.muli %[[STEP]], %{{.*}}
    // CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[LOWER]], %[[MORE]]
    // CHECK: %[[ANY1:.*]] = arith.cmpi slt, %[[FIRST]], %[[UPPER]]
    // CHECK-NEXT: scf.if %[[ANY1]] {
    // CHECK: tile.async_copy %[[A]][%{{.*}}, %[[FIRST]]] to %[[S]][%{{.*}}] shape [{{.*}}]
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.async_commit
    // CHECK: scf.for %[[K:.*]] = %[[LOWER]] to %[[UPPER]] step %[[STEP]] iter_args(%[[READ:.*]] = %{{.*}}, %[[WRITE:.*]] = %{{.*}}) ->
    // CHECK-NEXT: tile.async_wait 1
    // TWO: scf.for
    // TWO-NEXT: tile.async_wait 0
    // CHECK-NEXT: gpu.barrier
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[K]],
    // CHECK-NEXT: %[[THERE:.*]] = arith.cmpi slt, %[[AHEAD]], %[[UPPER]]
    // CHECK-NEXT: scf.if %[[THERE]] {
    // CHECK: %[[ROW:.*]] = arith.addi %[[AHEAD]], %[[AHEAD]]
    // CHECK: tile.async_copy %[[A]][%[[ROW]], %[[AHEAD]]] to %[[S]][%[[WRITE]], %{{.*}}] shape [{{.*}}]
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.async_commit
    // CHECK-NOT: gpu.barrier
    // CHECK: %[[T:.*]] = tile.load %[[S]][%[[READ]], %{{.*}}, %{{.*}}]
    // CHECK-NEXT: tile.store %[[T]],
    // CHECK: %[[NEXT:.*]] = arith.addi %[[READ]],
    // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]],
    // CHECK: %[[FOLLOWING:.*]] = arith.select %[[WRAPS]], %{{.*}}, %[[NEXT]]
    // CHECK-NEXT: scf.yield %[[FOLLOWING]], %[[READ]]
    %s = tile.alloc_shared : !S
    %p = tile.alloc_shared : memref<64x32xf16, #tile.shared<"none">>
    scf.for %k = %lower to %upper step %step {
      %z = arith.constant 0 : index
      gpu.barrier
      %row = arith.addi %k, %k : index
      tile.async_copy %a[%row, %k] to %s[%z, %z] shape [64, 32] masked {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
      tile.store %t, %p[%z, %z] : !A, memref<64x32xf16, #tile.shared<"none">>
    }
    gpu.return
  }

  // Rounds that are known to be there need no test; in a loop the prologue needs a barrier. The
  // attribute says how many stages, to kernels written by hand, too.
  // CHECK-LABEL: gpu.func @static(
  gpu.func @static(%a: !G, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NEXT: %[[S:.*]] = tile.alloc_shared : memref<2x64x32xf16, #tile.shared<"64B">>
    // CHECK: scf.for
    // CHECK: gpu.barrier
    // CHECK-NOT: scf.if
    // CHECK: tile.async_copy
    // CHECK-NEXT: tile.async_commit
    // CHECK: scf.for
    // CHECK: tile.async_wait 0
    // CHECK: scf.if
    // CHECK-NOT: tile.stages
    // CHECK: gpu.return
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %z to %n step %c1 {
      scf.for %k = %z to %c256 step %c64 {
        gpu.barrier
        tile.async_copy %a[%i, %k] to %s[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
        tile.async_commit
        tile.async_wait 0
        gpu.barrier
        %t = tile.load %s[%z, %z] : !S -> !A
      } {tile.stages = 2 : i64}
    }
    gpu.return
  }

  // No more stages than rounds.
  // CHECK-LABEL: gpu.func @two_rounds(
  gpu.func @two_rounds(%a: !G) kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NEXT: tile.alloc_shared : memref<2x64x32xf16, #tile.shared<"64B">>
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c40 = arith.constant 40 : index
    scf.for %k = %z to %c40 step %c32 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
    }
    gpu.return
  }

  // It stays: written by hand; one stage; what a copy reads is written in the loop, or its place
  // depends on the round before; a buffer with other uses.
  // CHECK-LABEL: gpu.func @stays(
  // CHECK-NOT: memref<3x64x32xf16
  // CHECK-NOT: memref<2x64x32xf16
  // CHECK-LABEL: gpu.func @by_hand(
  // CHECK-NOT: memref<3x64x32xf16
  // CHECK: gpu.return
  gpu.func @stays(%a: !G, %u: !G {llvm.noalias}, %n: index) kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    %s0 = tile.alloc_shared : !S
    %s1 = tile.alloc_shared : !S
    %s2 = tile.alloc_shared : !S
    %s3 = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s0[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s0[%z, %z] : !S -> !A
    } {tile.stages = 1 : i64}
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %u[%z, %k] to %s1[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s1[%z, %z] : !S -> !A
      tile.store %t, %u[%z, %z] : !A, !G
    }
    %last = scf.for %k = %z to %n step %c1 iter_args(%at = %z) -> (index) {
      gpu.barrier
      tile.async_copy %a[%z, %at] to %s2[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s2[%z, %z] : !S -> !A
      %next = arith.muli %at, %n : index
      scf.yield %next : index
    }
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s3[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
    }
    %t = tile.load %s3[%z, %z] : !S -> !A
    gpu.return
  }
  gpu.func @by_hand(%a: !G, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
    }
    gpu.return
  }
}

// Without cp.async, the next round's tile waits in registers for the end of this one.
gpu.module @turing [#nvvm.target<chip = "sm_75">] {
  // CHECK-LABEL: gpu.func @registers(
  gpu.func @registers(%a: !G, %b: !G, %n: index) kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NEXT: %[[S:.*]] = tile.alloc_shared : memref<2x64x32xf16, #tile.shared<"64B">>
    // CHECK: scf.if
    // CHECK: tile.async_copy %{{.*}} to %[[S]][
    // CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[READ:.*]] = %{{.*}})
    // CHECK-NEXT: gpu.barrier
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[K]],
    // CHECK: %[[NEXT:.*]] = scf.if %{{.*}} -> (tensor<64x32xf16, #[[ROWS:.*]]>) {
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[AHEAD]]] masked {vector = 8 : i64}
    // CHECK: } else {
    // CHECK: %[[T:.*]] = tile.load %[[S]][%[[READ]],
    // CHECK-NEXT: tile.store %[[T]],
    // CHECK: %[[WRITE:.*]] = arith.select
    // CHECK: tile.store %[[NEXT]], %[[S]][%[[WRITE]],
    // CHECK-NEXT: scf.yield %[[WRITE]]
    // CHECK-NOT: gpu.barrier
    // CHECK: gpu.return
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %p = tile.alloc_shared : memref<64x32xf16, #tile.shared<"none">>
    scf.for %k = %z to %n step %c32 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s[%z, %z] shape [64, 32] masked {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
      tile.store %t, %p[%z, %z] : !A, memref<64x32xf16, #tile.shared<"none">>
    }
    gpu.return
  }
}
