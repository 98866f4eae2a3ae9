// RUN: tile-opt %s --tile-to-fragments | FileCheck %s

// Two warps along M. A: 16 rows a warp, two fragments along K. B: the same in both warps, two
// fragments along K, then two along N. C: two fragments along N.
!A = tensor<32x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 32">>
!B = tensor<32x16xf16, #tile.layout<"register [1,0] [8,0] [16,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 32, col 16">>
!C = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!H = tensor<32x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!SA = memref<32x64xf16, #tile.shared<"128B">>
!SB = memref<64x64xf16, #tile.shared<"128B">>
// CHECK-DAG: ![[C:[A-Za-z0-9_]+]] = !tile.frag<tensor<16x8xf32>, #tile.operand<c, m16n8>>
// CHECK-DAG: ![[A:[A-Za-z0-9_]+]] = !tile.frag<tensor<16x16xf16>, #tile.operand<a, m16k16, b16>>
// CHECK-DAG: ![[BB:[A-Za-z0-9_]+]] = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>
// CHECK-DAG: ![[B:[A-Za-z0-9_]+]] = !tile.frag<tensor<16x8xf16>, #tile.operand<b, k16n8, b16>>
// CHECK-DAG: ![[H:[A-Za-z0-9_]+]] = !tile.frag<tensor<16x8xf16>, #tile.operand<c, m16n8>>

gpu.module @gemm [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @loop(
  gpu.func @loop(%x: memref<?x?xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[THREAD:.*]] = gpu.thread_id x
    // CHECK: %[[C5:.*]] = arith.constant 5 : index
    // CHECK: %[[WARP:.*]] = arith.shrui %[[THREAD]], %[[C5]] : index
    // CHECK: %[[SA:.*]] = tile.alloc_shared
    // CHECK: %[[SB:.*]] = tile.alloc_shared
    %sa = tile.alloc_shared : !SA
    %sb = tile.alloc_shared : !SB
    %z = arith.constant 0 : index
    // A splat becomes one fill, whatever the number of fragments.
    // CHECK: %[[NULL:.*]] = arith.constant 0.000000e+00 : f32
    // CHECK: %[[ZERO:.*]] = tile.fill %[[NULL]] : f32 -> ![[C]]
    // CHECK-NOT: tile.fill
    %zero = arith.constant dense<0.0> : !C
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    // The loop carries fragments.
    // CHECK: %[[R:.*]]:2 = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC0:.*]] = %[[ZERO]], %[[ACC1:.*]] = %[[ZERO]]) -> (![[C]], ![[C]])
    %r = scf.for %k = %z to %c64 step %c32 iter_args(%acc = %zero) -> (!C) {
      // One ldmatrix a fragment of A: rows 16 times the warp, columns k and k + 16.
      // CHECK: %[[C4:.*]] = arith.constant 4 : index
      // CHECK: %[[ROW:.*]] = arith.shli %[[WARP]], %[[C4]] : index
      // CHECK: %[[A0:.*]] = tile.ldmatrix %[[SA]][%[[ROW]], %[[K]]] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : {{.*}} -> ![[A]]
      // CHECK: %[[C16:.*]] = arith.constant 16 : index
      // CHECK: %[[K1:.*]] = arith.addi %[[K]], %[[C16]] : index
      // CHECK: %[[A1:.*]] = tile.ldmatrix %[[SA]][%[[ROW]], %[[K1]]] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : {{.*}} -> ![[A]]
      %a = tile.load %sa[%z, %k] : !SA -> !A
      // One for two of B, transposed by the instruction, since memory holds rows of K.
      // CHECK: %[[BN0:.*]] = tile.ldmatrix %[[SB]][%[[K]], %{{.*}}] {form = "ldmatrix.sync.aligned.m8n8.x4.trans.b16"} : {{.*}} -> ![[BB]]
      // CHECK: %[[B00:.*]] = tile.slice %[[BN0]][0] : ![[BB]] -> ![[B]]
      // CHECK: %[[B10:.*]] = tile.slice %[[BN0]][1] : ![[BB]] -> ![[B]]
      // CHECK: %[[C8:.*]] = arith.constant 8 : index
      // CHECK: %[[BN1:.*]] = tile.ldmatrix %[[SB]][%[[K]], %[[C8]]] {form = "ldmatrix.sync.aligned.m8n8.x4.trans.b16"} : {{.*}} -> ![[BB]]
      // CHECK: %[[B01:.*]] = tile.slice %[[BN1]][0]
      // CHECK: %[[B11:.*]] = tile.slice %[[BN1]][1]
      %b = tile.load %sb[%k, %z] : !SB -> !B
      // From the transpose, plain: rows of memory are columns of B.
      // CHECK: %[[TN0:.*]] = tile.ldmatrix %[[SB]][%{{.*}}, %[[K]]] transposed {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : {{.*}} -> ![[BB]]
      // CHECK: %[[T00:.*]] = tile.slice %[[TN0]][0]
      // CHECK: %[[T10:.*]] = tile.slice %[[TN0]][1]
      // CHECK: %[[D8:.*]] = arith.constant 8 : index
      // CHECK: %[[TN1:.*]] = tile.ldmatrix %[[SB]][%[[D8]], %[[K]]] transposed {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : {{.*}} -> ![[BB]]
      // CHECK: %[[T01:.*]] = tile.slice %[[TN1]][0]
      // CHECK: %[[T11:.*]] = tile.slice %[[TN1]][1]
      %bt = tile.load %sb[%z, %k] transposed : !SB -> !B
      // K outermost, so that an accumulator is not needed again at once.
      // CHECK-NEXT: %[[D0:.*]] = tile.mma %[[A0]], %[[B00]], %[[ACC0]] {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : ![[A]], ![[B]], ![[C]]
      // CHECK-NEXT: %[[D1:.*]] = tile.mma %[[A0]], %[[B01]], %[[ACC1]]
      // CHECK-NEXT: %[[D2:.*]] = tile.mma %[[A1]], %[[B10]], %[[D0]]
      // CHECK-NEXT: %[[D3:.*]] = tile.mma %[[A1]], %[[B11]], %[[D1]]
      %d = tile.dot %a, %b, %acc {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      // CHECK-NEXT: %[[E0:.*]] = tile.mma %[[A0]], %[[T00]], %[[D2]]
      // CHECK-NEXT: %[[E1:.*]] = tile.mma %[[A0]], %[[T01]], %[[D3]]
      // CHECK-NEXT: %[[E2:.*]] = tile.mma %[[A1]], %[[T10]], %[[E0]]
      // CHECK-NEXT: %[[E3:.*]] = tile.mma %[[A1]], %[[T11]], %[[E1]]
      %e = tile.dot %a, %bt, %d {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      // CHECK-NEXT: scf.yield %[[E2]], %[[E3]] : ![[C]], ![[C]]
      scf.yield %e : !C
    }
    // Fragment by fragment, the upstream op's flags with it.
    // CHECK: %[[S0:.*]] = tile.elementwise arith.addf %[[R]]#0, %[[ZERO]] {fastmath = #arith.fastmath<contract>} : ![[C]]
    // CHECK-NEXT: %[[S1:.*]] = tile.elementwise arith.addf %[[R]]#1, %[[ZERO]] {fastmath = #arith.fastmath<contract>}
    // CHECK-NEXT: %[[H0:.*]] = tile.cast arith.truncf %[[S0]] : ![[C]] to ![[H]]
    // CHECK-NEXT: %[[H1:.*]] = tile.cast arith.truncf %[[S1]] : ![[C]] to ![[H]]
    %s = arith.addf %r, %zero fastmath<contract> : !C
    %h = arith.truncf %s : !C to !H
    // Two fragments of halves are what stmatrix x4 moves.
    // CHECK: %[[HH:.*]] = tile.concat %[[H0]], %[[H1]] : ![[H]] -> ![[A]]
    // CHECK-NEXT: tile.stmatrix %[[HH]], %[[SA]][%{{.*}}, %{{.*}}] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : ![[A]]
    tile.store %h, %sa[%z, %z] : !H, !SA
    // To global memory each by itself, the attributes kept.
    // CHECK: tile.store %[[H0]], %{{.*}}[%[[ROW2:.*]], %{{.*}}] masked {vector = 2 : i64} : ![[H]], memref<?x?xf16>
    // CHECK: %[[E8:.*]] = arith.constant 8 : index
    // CHECK-NEXT: tile.store %[[H1]], %{{.*}}[%[[ROW2]], %[[E8]]] masked {vector = 2 : i64}
    tile.store %h, %x[%z, %z] masked {vector = 2} : !H, memref<?x?xf16>
    gpu.return
  }
}

// Where no dot says what a tile is made of, it is one fragment a warp: here four matrices.
gpu.module @older [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @instructions(
  gpu.func @instructions(%g: memref<?x?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: %[[S:.*]] = tile.alloc_shared
    %s = tile.alloc_shared : !SA
    // CHECK: %[[T:.*]] = tile.ldmatrix %[[S]][{{.*}}] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
    %t = tile.load %s[%z, %z] : !SA -> !H
    // No stmatrix before sm_90.
    // CHECK-NOT: stmatrix
    // CHECK: tile.store %[[T]], %[[S]][
    tile.store %t, %s[%z, %z] : !H, !SA
    // An index that need not be a multiple of eight elements.
    // CHECK-NOT: tile.ldmatrix
    // CHECK: tile.load %[[S]][
    %a = tile.load %s[%z, %i] : !SA -> !H
    // A swizzle that takes rows of eight apart.
    // CHECK: %[[P:.*]] = tile.alloc_shared
    // CHECK-NOT: tile.ldmatrix
    // CHECK: tile.load %[[P]][
    %p = tile.alloc_shared : memref<32x64xf16, #tile.shared<"swizzle<2,2,3>">>
    %b = tile.load %p[%z, %z] : memref<32x64xf16, #tile.shared<"swizzle<2,2,3>">> -> !H
    // Global memory.
    // CHECK-NOT: tile.ldmatrix
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}]
    %c = tile.load %g[%z, %z] : memref<?x?xf16> -> !H
    // Who says by which instruction, or by none, is obeyed.
    // CHECK-NOT: tile.ldmatrix
    // CHECK: tile.load %[[S]][%{{.*}}]
    // CHECK-NOT: tile.ldmatrix
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}]
    %d = tile.load %s[%z, %z] {form = "none"} : !SA -> !H
    %e = tile.load %g[%z, %z] : memref<?x?xf16> -> !H
    // CHECK: tile.ldmatrix %[[S]][{{.*}}] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
    %f = tile.load %s[%z, %z] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !SA -> !H
    // CHECK: gpu.return
    gpu.return
  }
}

gpu.module @volta [#nvvm.target<chip = "sm_70">] {
  // CHECK-LABEL: gpu.func @no_ldmatrix(
  gpu.func @no_ldmatrix() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !SA
    // CHECK-NOT: ldmatrix
    // CHECK: tile.load
    %a = tile.load %s[%z, %z] : !SA -> !H
    gpu.return
  }
}

// Control flow carries fragments.
!T = tensor<16x16xf16, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,8] -> row 16, col 16">>
!R = tensor<16x16xf16, #tile.layout<"register [0,1] [0,4]; lane [0,2] [1,0] [2,0] [4,0] [8,0]; warp [0,8] -> row 16, col 16">>

gpu.module @control [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @structured(
  // CHECK-SAME: %[[M:[A-Za-z0-9_]+]]: memref<?x?xf16>, %[[P:[A-Za-z0-9_]+]]: i1, %[[I:[A-Za-z0-9_]+]]: index, %[[J:[A-Za-z0-9_]+]]: index)
  gpu.func @structured(%m: memref<?x?xf16>, %p: i1, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // The warp's columns begin at eight times its number; the memory's second index takes them.
    // CHECK: %[[C3:.*]] = arith.constant 3 : index
    // CHECK: %[[COL:.*]] = arith.shli %{{.*}}, %[[C3]] : index
    // CHECK: %[[JW:.*]] = arith.addi %[[J]], %[[COL]] : index
    // CHECK: %[[T:.*]] = tile.load %[[M]][%[[I]], %[[JW]]] : memref<?x?xf16> -> ![[F:[A-Za-z0-9_]+]]
    %t = tile.load %m[%i, %j] : memref<?x?xf16> -> !T
    // CHECK: %[[IF:.*]] = scf.if %[[P]] -> (![[F]]) {
    // CHECK: %[[SUM:.*]] = tile.elementwise {{.*}} %[[T]], %[[T]]
    // CHECK: scf.yield %[[SUM]] : ![[F]]
    // CHECK: else
    // CHECK: scf.yield %[[T]] : ![[F]]
    %e = scf.if %p -> !T {
      %w = arith.addf %t, %t : !T
      scf.yield %w : !T
    } else {
      scf.yield %t : !T
    }
    // CHECK: %[[W:.*]] = scf.while (%[[V:.*]] = %[[IF]]) : (![[F]]) -> ![[F]] {
    // CHECK: scf.condition(%[[P]]) %[[V]] : ![[F]]
    // CHECK: ^bb0(%[[U:.*]]: ![[F]]):
    // CHECK: %[[N:.*]] = tile.elementwise arith.negf %[[U]]
    // CHECK: scf.yield %[[N]] : ![[F]]
    %f = scf.while (%v = %e) : (!T) -> !T {
      scf.condition(%p) %v : !T
    } do {
    ^bb0(%v: !T):
      %n = arith.negf %v : !T
      scf.yield %n : !T
    }
    // Of the transpose the first index takes the warp's columns.
    // CHECK: %[[IW:.*]] = arith.addi %[[I]], %{{.*}} : index
    // CHECK: tile.store %[[W]], %[[M]][%[[IW]], %[[J]]] transposed : ![[F]], memref<?x?xf16>
    tile.store %f, %m[%i, %j] transposed : !T, memref<?x?xf16>
    gpu.return
  }

  // A conversion within each warp is one of all that the warp holds.
  // CHECK-LABEL: gpu.func @conversion(
  gpu.func @conversion(%m: memref<?x?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: %[[T:.*]] = tile.load
    %t = tile.load %m[%i, %i] : memref<?x?xf16> -> !T
    // CHECK: %[[R:.*]] = tile.convert_layout %[[T]] : !{{.*}} -> !
    %r = tile.convert_layout %t : !T -> !R
    // CHECK: tile.store %[[R]],
    tile.store %r, %m[%i, %i] : !R, memref<?x?xf16>
    gpu.return
  }
}
