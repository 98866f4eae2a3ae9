// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

// 128 threads copy to the second of two swizzled buffers of 32 rows of 128 bytes.
!S = memref<2x32x64xf16, #tile.shared<"128B">>

gpu.module @ampere [#nvvm.target<chip = "sm_80">] {
  // Eight lanes a row of 64 halves: thread t takes column 8·(t % 8) of row t / 8, and of the row
  // 16 further down. In shared memory row r's columns are moved by 8·(r % 8).
  // CHECK-LABEL: gpu.func @sixteen_bytes(
  // CHECK-SAME: %[[G:[A-Za-z0-9_]+]]: memref<?x?xf16>, %[[I:[A-Za-z0-9_]+]]: index, %[[J:[A-Za-z0-9_]+]]: index)
  gpu.func @sixteen_bytes(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK-NEXT: %[[A3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[ROW:.*]] = arith.shrui %[[T]], %[[A3]] : index
    // CHECK-NEXT: %[[A7:.*]] = arith.constant 7 : index
    // CHECK-NEXT: %[[LOW:.*]] = arith.andi %[[T]], %[[A7]] : index
    // CHECK-NEXT: %[[B3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[COL:.*]] = arith.shli %[[LOW]], %[[B3]] : index
    // CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[PLAIN:.*]] = arith.shli %[[T]], %[[C3]] : index
    // CHECK-NEXT: %[[D3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[R:.*]] = arith.shrui %[[T]], %[[D3]] : index
    // CHECK-NEXT: %[[B7:.*]] = arith.constant 7 : index
    // CHECK-NEXT: %[[R7:.*]] = arith.andi %[[R]], %[[B7]] : index
    // CHECK-NEXT: %[[E3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[MOVE:.*]] = arith.shli %[[R7]], %[[E3]] : index
    // CHECK-NEXT: %[[PLACE:.*]] = arith.xori %[[PLAIN]], %[[MOVE]] : index
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @sixteen_bytes_shared : !llvm.ptr<3>
    // CHECK: %[[PASSED:.*]] = llvm.extractvalue %[[M:.*]][1]
    // CHECK: %[[P:.*]] = llvm.addrspacecast %[[PASSED]] : !llvm.ptr to !llvm.ptr<1>
    // CHECK: %[[IR:.*]] = arith.addi %[[I]], %[[ROW]] : index
    // CHECK: %[[IR64:.*]] = arith.index_cast %[[IR]] : index to i64
    // CHECK: %[[STRIDE:.*]] = llvm.extractvalue %[[M]][4, 0]
    // CHECK: %[[DOWN:.*]] = llvm.mul %[[IR64]], %[[STRIDE]] : i64
    // CHECK: %[[P1:.*]] = llvm.getelementptr %[[P]][%[[DOWN]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    // CHECK: %[[JC:.*]] = arith.addi %[[J]], %[[COL]] : index
    // CHECK: %[[JC64:.*]] = arith.index_cast %[[JC]] : index to i64
    // CHECK: %[[FROM:.*]] = llvm.getelementptr %[[P1]][%[[JC64]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    // CHECK: %[[PLACE64:.*]] = arith.index_castui %[[PLACE]] : index to i64
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64) : i64
    // CHECK: %[[BYTES:.*]] = llvm.shl %[[PLACE64]], %[[ONE]] : i64
    // CHECK: %[[TO:.*]] = llvm.getelementptr %[[BASE]][%[[BYTES]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
    // CHECK: %[[TO0:.*]] = llvm.getelementptr %[[TO]][4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: nvvm.cp.async.shared.global %[[TO0]], %[[FROM]], 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    // CHECK: %[[SIXTEEN:.*]] = llvm.mlir.constant(16 : i64) : i64
    // CHECK: %[[ROWS:.*]] = llvm.mul %[[SIXTEEN]], %[[STRIDE]] : i64
    // CHECK: %[[NEXT:.*]] = llvm.getelementptr %[[FROM]][%[[ROWS]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    // 16 rows of 128 bytes on, which the swizzle leaves alone.
    // CHECK: %[[TO1:.*]] = llvm.getelementptr %[[TO]][6144]
    // CHECK: nvvm.cp.async.shared.global %[[TO1]], %[[NEXT]], 16, cache = cg
    // CHECK-NOT: cp.async.shared
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%one, %z, %z] shape [32, 64] {vector = 8}
        : memref<?x?xf16> to !S
    // CHECK: nvvm.cp.async.commit.group
    tile.async_commit
    // CHECK: nvvm.cp.async.wait.group 1
    tile.async_wait 1
    gpu.return
  }

  // 64 copies for 128 threads: those with bit 6 set have none.
  // CHECK-LABEL: gpu.func @eight_bytes_masked(
  gpu.func @eight_bytes_masked(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK: %[[C64:.*]] = arith.constant 64 : index
    // CHECK: %[[BIT:.*]] = arith.andi %[[T]], %[[C64]] : index
    // CHECK: %[[C0:.*]] = arith.constant 0 : index
    // CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[BIT]], %[[C0]] : index
    // CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : index to i64
    // CHECK: %[[COL:.*]] = arith.index_cast %{{.*}} : index to i64
    // CHECK: %[[ROWS:.*]] = llvm.extractvalue %[[M:.*]][3, 0]
    // CHECK: %[[R:.*]] = llvm.icmp "ult" %[[ROW]], %[[ROWS]] : i64
    // The elements left in the row, at most four, two bytes each; none where the row or column is
    // outside, negative indices included.
    // CHECK: %[[COLS:.*]] = llvm.extractvalue %[[M]][3, 1]
    // CHECK: %[[LEFT:.*]] = llvm.sub %[[COLS]], %[[COL]] : i64
    // CHECK: %[[C:.*]] = llvm.icmp "ult" %[[COL]], %[[COLS]] : i64
    // CHECK: %[[C4:.*]] = llvm.mlir.constant(4 : i64) : i64
    // CHECK: %[[MIN:.*]] = llvm.intr.smin(%[[LEFT]], %[[C4]])
    // CHECK: %[[MIN32:.*]] = llvm.trunc %[[MIN]] : i64 to i32
    // CHECK: %[[C2:.*]] = llvm.mlir.constant(2 : i32) : i32
    // CHECK: %[[COUNT:.*]] = llvm.mul %[[MIN32]], %[[C2]] : i32
    // CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i32) : i32
    // CHECK: %[[INROW:.*]] = llvm.select %[[C]], %[[COUNT]], %[[NONE]] : i1, i32
    // CHECK: scf.if %[[OWN]] {
    // CHECK: %[[SIZE:.*]] = llvm.select %[[R]], %[[INROW]], %[[NONE]] : i1, i32
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca, %[[SIZE]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%z, %z, %z] shape [16, 16] masked {vector = 4}
        : memref<?x?xf16> to !S
    gpu.return
  }

  // Where a row is known to have whole pieces, all or nothing, which takes no counting.
  // CHECK-LABEL: gpu.func @whole_pieces(
  gpu.func @whole_pieces(%g: memref<?x?xf16> {tile.sizes = array<i64: 1, 8>}, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: llvm.intr.smin
    // CHECK: %[[C8:.*]] = llvm.mlir.constant(8 : i32) : i32
    // CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i32) : i32
    // CHECK: %[[INSIDE:.*]] = llvm.and
    // CHECK: %[[SIZE:.*]] = llvm.select %[[INSIDE]], %[[C8]], %[[NONE]] : i1, i32
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca, %[[SIZE]]
    %z = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %col = arith.muli %j, %c4 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %col] to %s[%z, %z, %z] shape [16, 16] masked {vector = 4}
        : memref<?x?xf16> to !S
    gpu.return
  }

  // CHECK-LABEL: gpu.func @four_bytes(
  gpu.func @four_bytes(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%z, %z, %z] shape [16, 16] {vector = 2} : memref<?x?xf16> to !S
    gpu.return
  }

  // Two bytes: no cp.async is so short.
  // CHECK-LABEL: gpu.func @two_bytes(
  gpu.func @two_bytes(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: cp.async.shared
    // CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
    // CHECK: llvm.store %[[X]], %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
    // CHECK-NOT: llvm.load
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%z, %z, %z] shape [8, 16] : memref<?x?xf16> to !S
    gpu.return
  }

  // CHECK-LABEL: gpu.func @two_bytes_masked(
  gpu.func @two_bytes_masked(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: cp.async.shared
    // CHECK: %[[R:.*]] = llvm.icmp "ult"
    // CHECK: %[[C:.*]] = llvm.icmp "ult"
    // CHECK: %[[INSIDE:.*]] = llvm.and %[[R]], %[[C]] : i1
    // CHECK: %[[X:.*]] = llvm.inline_asm has_side_effects "mov.b16 $0, 0;\0A\09@$1 ld.global.b16 $0, [$2];", "=h,b,l,~{memory}" %[[INSIDE]], %{{.*}} : (i1, !llvm.ptr<1>) -> i16
    // CHECK: llvm.store %[[X]], %{{.*}} : i16, !llvm.ptr<3>
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%z, %z, %z] shape [8, 16] masked : memref<?x?xf16> to !S
    gpu.return
  }

  // Global memory that says so needs no cast.
  // CHECK-LABEL: gpu.func @global_space(
  gpu.func @global_space(%g: memref<32x64xf16, 1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: addrspacecast
    // CHECK: nvvm.cp.async.shared.global
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%z, %z] to %s[%z, %z, %z] shape [32, 64] {vector = 8}
        : memref<32x64xf16, 1> to !S
    // CHECK: gpu.return
    gpu.return
  }
}

// No cp.async before sm_80: loads and stores of the same width, and nothing to wait for.
gpu.module @turing [#nvvm.target<chip = "sm_75">] {
  // CHECK-LABEL: gpu.func @sixteen_bytes_through_registers(
  gpu.func @sixteen_bytes_through_registers(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-NOT: nvvm.cp.async
    // CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    // CHECK: llvm.store %[[X]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    // CHECK: %[[Y:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    // CHECK: llvm.store %[[Y]], %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    // CHECK-NOT: nvvm.cp.async
    // CHECK: gpu.return
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%z, %z, %z] shape [32, 64] {vector = 8} : memref<?x?xf16> to !S
    tile.async_commit
    tile.async_wait 0
    gpu.return
  }

  // CHECK-LABEL: gpu.func @sixteen_bytes_masked(
  gpu.func @sixteen_bytes_masked(%g: memref<?x?xf16>, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, 0;\0A\09mov.b32 $1, 0;\0A\09mov.b32 $2, 0;\0A\09mov.b32 $3, 0;\0A\09@$4 ld.global.v4.b32 {$0, $1, $2, $3}, [$5];", "=r,=r,=r,=r,b,l,~{memory}" %{{.*}} : (i1, !llvm.ptr<1>) -> !llvm.struct<(i32, i32, i32, i32)>
    // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    // CHECK-NOT: scf.if
    // CHECK: gpu.return
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.async_copy %g[%i, %j] to %s[%z, %z, %z] shape [16, 64] masked {vector = 8}
        : memref<?x?xf16> to !S
    gpu.return
  }
}
