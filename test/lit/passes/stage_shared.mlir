// RUN: tile-opt %s --tile-stage-shared | FileCheck %s

!A = tensor<64x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">>
!A8 = tensor<64x32xi8, #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">>
!B = tensor<32x64xf16, #tile.layout<"register [1,0] [8,0] [0,8] [0,16] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] [0,32] -> row 32, col 64">>
!C = tensor<64x64xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,32] -> row 64, col 64">>
!SA = tensor<16x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 16">>
!SB = tensor<32x8xf16, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp -> row 32, col 8">>
!SC = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 8">>
!E = tensor<16x8xi4, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,0] [1,0] [2,0] [4,0]; warp -> row 16, col 8">>
!G = memref<?x?xf16, strided<[?, 1]>>
!G8 = memref<?x?xi8, strided<[?, 1]>>
!R = memref<?x?xf32, strided<[?, 1]>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Both operands at once: what the second needs moves in front of the first. In a loop a barrier
  // comes before. Each tile is loaded before its first use.
  // CHECK-LABEL: gpu.func @gemm(
  gpu.func @gemm(%a: !G {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !G {tile.aligned = 8 : i64, tile.strides = array<i64: 8, 1>}, %c: !R, %depth: index)
      kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NEXT: %[[BA:.*]] = tile.alloc_shared : memref<64x32xf16, #tile.shared<"64B">>
    // CHECK-NEXT: %[[BB:.*]] = tile.alloc_shared : memref<32x64xf16, #tile.shared<"128B">>
    %z = arith.constant 0 : index
    %s = arith.constant 32 : index
    %zero = arith.constant dense<0.0> : !C
    // CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%[[ACC:.*]] =
    // CHECK-NEXT: %[[COL:.*]] = arith.addi %[[K]], %[[K]]
    // CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : index
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: tile.async_copy %{{.*}}[%{{.*}}, %[[K]]] to %[[BA]][%[[Z]], %[[Z]]] shape [64, 32] masked {vector = 8 : i64}
    // CHECK-NEXT: tile.async_copy %{{.*}}[%[[K]], %[[COL]]] to %[[BB]][%[[Z]], %[[Z]]] shape [32, 64] {vector = 4 : i64}
    // CHECK-NEXT: tile.async_commit
    // CHECK-NEXT: tile.async_wait 0
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: %[[TA:.*]] = tile.load %[[BA]][%[[Z]], %[[Z]]]
    // CHECK-NEXT: %[[NEG:.*]] = arith.negf %[[TA]]
    // CHECK-NEXT: %[[TB:.*]] = tile.load %[[BB]][%[[Z]], %[[Z]]]
    // CHECK-NEXT: tile.dot %[[NEG]], %[[TB]], %[[ACC]]
    %r = scf.for %k = %z to %depth step %s iter_args(%acc = %zero) -> (!C) {
      %ta = tile.load %a[%z, %k] masked : !G -> !A
      %col = arith.addi %k, %k : index
      %tb = tile.load %b[%k, %col] : !G -> !B
      %neg = arith.negf %ta : !A
      %sum = tile.dot %neg, %tb, %acc {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      scf.yield %sum : !C
    }
    // The accumulator's own load does not go that way.
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf32
    %old = tile.load %c[%z, %z] : !R -> !C
    %new = arith.addf %old, %r : !C
    tile.store %new, %c[%z, %z] : !C, !R
    gpu.return
  }

  // Outside loops nobody reads what was before. One buffer for what is loaded twice, once
  // transposed; through a cast; a pinned load stays.
  // CHECK-LABEL: gpu.func @once(
  gpu.func @once(%a: !G {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %w: !G8, %c: !R)
      kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NEXT: %[[BA:.*]] = tile.alloc_shared : memref<64x32xf16,
    // CHECK-NEXT: %[[BW:.*]] = tile.alloc_shared : memref<64x32xi8,
    // CHECK-NOT: tile.alloc_shared
    // CHECK: %[[Z:.*]] = arith.constant 0 : index
    // CHECK-NOT: gpu.barrier
    // CHECK: tile.async_copy %{{.*}} to %[[BA]][
    // CHECK-NEXT: tile.async_copy %{{.*}} to %[[BW]][{{.*}} shape [64, 32] :
    // CHECK-NEXT: tile.async_commit
    // CHECK-NEXT: tile.async_wait 0
    // CHECK-NEXT: gpu.barrier
    // CHECK-DAG: tile.load %[[BA]][%{{.*}}, %{{.*}}] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
    // CHECK-DAG: tile.load %[[BA]][%{{.*}}, %{{.*}}] transposed {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
    // CHECK-DAG: tile.load %[[BW]][%{{.*}}, %{{.*}}] {form = "none"}
    // CHECK-DAG: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {tile.direct}
    // CHECK: gpu.return
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    %ta = tile.load %a[%z, %z] : !G -> !A
    %tb = tile.load %a[%z, %z] transposed : !G -> !B
    %tw = tile.load %w[%z, %z] : !G8 -> !A8
    %td = tile.load %a[%z, %z] {tile.direct} : !G -> !B
    %cast = arith.sitofp %tw : !A8 to !A
    %s0 = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    %s1 = tile.dot %cast, %td, %s0 {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    tile.store %s1, %c[%z, %z] : !C, !R
    gpu.return
  }

  // A load is not moved past a store that may go to the same memory, unless it cannot.
  // CHECK-LABEL: gpu.func @order(
  gpu.func @order(%a: !G, %b: !G, %u: !G {llvm.noalias}, %c: !R)
      kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: tile.async_copy
    // CHECK-NEXT: tile.async_commit
    // CHECK: %[[TA:.*]] = tile.load
    // CHECK: tile.store %[[TA]]
    // CHECK: tile.async_copy
    // CHECK-NEXT: tile.async_commit
    // CHECK: tile.dot
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    %ta = tile.load %a[%z, %z] : !G -> !A
    tile.store %ta, %b[%z, %z] : !A, !G
    %tb = tile.load %a[%z, %z] : !G -> !B
    %s0 = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    tile.store %s0, %c[%z, %z] : !C, !R
    gpu.return
  }

  // CHECK-LABEL: gpu.func @alone(
  gpu.func @alone(%a: !G, %b: !G, %u: !G {llvm.noalias}, %c: !R)
      kernel attributes {tile.automatic, known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: tile.async_copy
    // CHECK-NEXT: tile.async_copy
    // CHECK-NEXT: tile.async_commit
    // CHECK: %[[TA:.*]] = tile.load
    // CHECK: tile.store %[[TA]]
    // CHECK-NOT: tile.async_copy
    // CHECK: gpu.return
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    %ta = tile.load %a[%z, %z] : !G -> !A
    tile.store %ta, %u[%z, %z] : !A, !G
    %tb = tile.load %b[%z, %z] : !G -> !B
    %s0 = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    tile.store %s0, %c[%z, %z] : !C, !R
    gpu.return
  }

  // Who has written the layouts by hand has chosen.
  // CHECK-LABEL: gpu.func @by_hand(
  // CHECK-NOT: tile.async_copy
  // CHECK: gpu.return
  gpu.func @by_hand(%a: !G, %b: !G, %c: !R) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    %ta = tile.load %a[%z, %z] : !G -> !A
    %tb = tile.load %b[%z, %z] : !G -> !B
    %s = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    tile.store %s, %c[%z, %z] : !C, !R
    gpu.return
  }

  // Metadata go the same way if they are aligned for cp.async, else straight to registers.
  // CHECK-LABEL: gpu.func @metadata(
  // CHECK-SAME: %{{.*}}: memref<{{.*}}>, %{{.*}}: memref<{{.*}}>, %[[E:[A-Za-z0-9_]+]]: memref<?x?xi8{{.*}}, %[[F:[A-Za-z0-9_]+]]: memref<?x?xi8
  gpu.func @metadata(%a: !G, %b: !G, %e: !G8 {tile.aligned = 4 : i64, tile.strides = array<i64: 4, 1>}, %f: !G8, %c: memref<16x8xf32>)
      kernel attributes {tile.automatic, known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[BE:.*]] = tile.alloc_shared : memref<16x4xi8,
    // CHECK: tile.async_copy %[[E]]{{.*}} to %[[BE]][{{.*}} shape [16, 4] {vector = 4 : i64}
    // CHECK: %[[DIRECT:.*]] = tile.load %[[F]][
    // CHECK: %[[STAGED:.*]] = tile.load %[[BE]][
    // CHECK: tile.dot_sp %{{.*}}, %{{.*}}, %{{.*}}, %[[STAGED]]
    // CHECK: tile.dot_sp %{{.*}}, %{{.*}}, %{{.*}}, %[[DIRECT]]
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !SC
    %ta = tile.load %a[%z, %z] : !G -> !SA
    %tb = tile.load %b[%z, %z] : !G -> !SB
    %te = tile.load %e[%z, %z] : !G8 -> !E
    %tf = tile.load %f[%z, %z] : !G8 -> !E
    %p = tile.dot_sp %ta, %tb, %zero, %te {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : !SA, !SB, !SC, !E
    %q = tile.dot_sp %ta, %tb, %p, %tf {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : !SA, !SB, !SC, !E
    tile.store %q, %c[%z, %z] : !SC, memref<16x8xf32>
    gpu.return
  }
}
