// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!S = memref<2x32x64xf16, #tile.shared<"128B">>
!F = memref<16x64xf32, #tile.shared<"128B">>

gpu.module @m [#nvvm.target<chip = "sm_90">] {
  // Up to 48 KiB a kernel's buffers are static, in one array, each on a multiple of 1024 bytes; above,
  // the array is of the launch's size, which the kernel notes.
  // CHECK-DAG: llvm.mlir.global internal @buffers_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<3072 x i8>
  // CHECK-DAG: llvm.mlir.global external @large_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: gpu.func @buffers(
  gpu.func @buffers(%x: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[S0:.*]] = llvm.mlir.addressof @buffers_shared : !llvm.ptr<3>
    // CHECK: %[[S1:.*]] = llvm.mlir.addressof @buffers_shared : !llvm.ptr<3>
    // CHECK: %[[B1:.*]] = llvm.getelementptr %[[S1]][1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: llvm.getelementptr %{{.*}}[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %s = tile.alloc_shared : memref<8x8xf16, #tile.shared<"none">>
    %t = tile.alloc_shared : memref<32x16xf16, #tile.shared<"32B">>
    %u = tile.alloc_shared : memref<2x8x8xi8, #tile.shared<"none">>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @large(
  // CHECK-SAME: kernel attributes {known_block_size = array<i32: 32, 1, 1>, tile.dynamic_shared = 50176 : i64}
  gpu.func @large() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: llvm.mlir.addressof @large_shared : !llvm.ptr<3>
    %s = tile.alloc_shared : memref<3x128x64xf16, #tile.shared<"128B">>
    %t = tile.alloc_shared : memref<8x8xf16, #tile.shared<"none">>
    gpu.return
  }

  // Lane l supplies row l % 16 of the matrices at column 8·(l / 16); the swizzle moves the columns of
  // row r by 8·(r % 8): offset 64·(l % 16) ^ 8·(l / 16) ^ 8·(l % 8) in elements.
  // CHECK-LABEL: gpu.func @ldmatrix(
  // CHECK-SAME: %[[I:[A-Za-z0-9_]+]]: index)
  gpu.func @ldmatrix(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK-NEXT: %[[C31:.*]] = arith.constant 31 : index
    // CHECK-NEXT: %[[LANE:.*]] = arith.andi %[[T]], %[[C31]] : index
    // CHECK-NEXT: %[[C7:.*]] = arith.constant 7 : index
    // CHECK-NEXT: %[[ROW7:.*]] = arith.andi %[[LANE]], %[[C7]] : index
    // CHECK-NEXT: %[[C3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[MOVE:.*]] = arith.shli %[[ROW7]], %[[C3]] : index
    // CHECK-NEXT: %[[C15:.*]] = arith.constant 15 : index
    // CHECK-NEXT: %[[ROW:.*]] = arith.andi %[[LANE]], %[[C15]] : index
    // CHECK-NEXT: %[[C6:.*]] = arith.constant 6 : index
    // CHECK-NEXT: %[[DOWN:.*]] = arith.shli %[[ROW]], %[[C6]] : index
    // CHECK-NEXT: %[[X0:.*]] = arith.xori %[[MOVE]], %[[DOWN]] : index
    // CHECK-NEXT: %[[C4:.*]] = arith.constant 4 : index
    // CHECK-NEXT: %[[HIGH:.*]] = arith.shrui %[[LANE]], %[[C4]] : index
    // CHECK-NEXT: %[[D3:.*]] = arith.constant 3 : index
    // CHECK-NEXT: %[[COL:.*]] = arith.shli %[[HIGH]], %[[D3]] : index
    // CHECK-NEXT: %[[OFFSET:.*]] = arith.xori %[[X0]], %[[COL]] : index
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @ldmatrix_shared : !llvm.ptr<3>
    // CHECK: %[[O64:.*]] = arith.index_castui %[[OFFSET]] : index to i64
    // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64) : i64
    // CHECK: %[[BYTES:.*]] = llvm.shl %[[O64]], %[[ONE]] : i64
    // Column 48 meets bits that the lane sets, 96 bytes; the second buffer and row 16 do not: 4096
    // and 16·128 bytes.
    // CHECK: %[[NEAR:.*]] = llvm.mlir.constant(96 : i64) : i64
    // CHECK: %[[MIXED:.*]] = llvm.xor %[[BYTES]], %[[NEAR]] : i64
    // CHECK: %[[P:.*]] = llvm.getelementptr %[[BASE]][%[[MIXED]]] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8
    // CHECK: %[[ADDRESS:.*]] = llvm.getelementptr %[[P]][6144] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: %[[L:.*]] = llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(%[[ADDRESS]]) {convergent} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    // CHECK: %[[R0:.*]] = llvm.extractvalue %[[L]][0]
    // CHECK: llvm.bitcast %[[R0]] : i32 to vector<2xf16>
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %s = tile.alloc_shared : !S
    %a = tile.ldmatrix %s[%c1, %c16, %c48] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
    // Which buffer, and the column, at run time: i·4096 bytes, and 16·i among the lane's bits.
    // CHECK: %[[K:.*]] = arith.muli %[[I]], %{{.*}} : index
    // CHECK: %[[I64:.*]] = arith.index_castui %[[I]] : index to i64
    // CHECK: %[[SIZE:.*]] = llvm.mlir.constant(4096 : i64) : i64
    // CHECK: %[[AT:.*]] = llvm.mul %[[I64]], %[[SIZE]] : i64
    // CHECK: %[[BUFFER:.*]] = llvm.getelementptr %[[BASE]][%[[AT]]]
    // CHECK: %[[KO:.*]] = arith.xori %[[K]], %[[OFFSET]] : index
    // CHECK: %[[KO64:.*]] = arith.index_castui %[[KO]] : index to i64
    // CHECK: %[[KB:.*]] = llvm.shl %[[KO64]], %{{.*}} : i64
    // CHECK: %[[Q:.*]] = llvm.getelementptr %[[BUFFER]][%[[KB]]]
    // CHECK: llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3(%[[Q]]) {convergent}
    %k = arith.muli %i, %c16 : index
    %b = tile.ldmatrix %s[%i, %z, %k] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
    gpu.return
  }

  // Two matrices: lanes from 16 on repeat the addresses of those below.
  // CHECK-LABEL: gpu.func @two_matrices(
  gpu.func @two_matrices(%x: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[LANE:.*]] = arith.andi
    // CHECK: %[[C15:.*]] = arith.constant 15 : index
    // CHECK: arith.andi %[[LANE]], %[[C15]] : index
    // CHECK-NOT: arith.constant 4 : index
    // CHECK: llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(%[[P:.*]]) {convergent} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    %b = tile.ldmatrix %s[%z, %z, %z] {form = "ldmatrix.sync.aligned.m8n8.x2.trans.b16"} : !S -> !B
    // CHECK: %[[R0:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
    // CHECK: %[[R1:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
    // CHECK: llvm.call @llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16.p3(%[[P]], %[[R0]], %[[R1]]) {convergent} : (!llvm.ptr<3>, i32, i32) -> ()
    tile.stmatrix %b, %s[%z, %z, %z] {form = "stmatrix.sync.aligned.m8n8.x2.trans.b16"} : !B, !S
    gpu.return
  }

  // Plain loads as wide as the swizzle leaves neighbours together: here two words, not across rows.
  // CHECK-LABEL: gpu.func @words(
  // CHECK-SAME: %[[I:[A-Za-z0-9_]+]]: index)
  gpu.func @words(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[V:.*]] = llvm.load %[[P:.*]] {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    // Eight rows of 256 bytes on.
    // CHECK: %[[P1:.*]] = llvm.getelementptr %[[P]][2048]
    // CHECK: llvm.load %[[P1]] {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !F
    %c = tile.load %s[%z, %z] : !F -> !C
    // A column that may be odd: sum first, then the swizzle, word by word.
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %[[I]] : index
    // CHECK: %[[C5:.*]] = arith.constant 5 : index
    // CHECK: %[[LINE:.*]] = arith.shrui %[[SUM]], %[[C5]] : index
    // CHECK: %[[C2:.*]] = arith.constant 2 : index
    // CHECK: %[[MOVE:.*]] = arith.shli %[[LINE]], %[[C2]] : index
    // CHECK: arith.xori %[[SUM]], %[[MOVE]] : index
    // CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
    // CHECK-COUNT-3: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
    // CHECK-NOT: llvm.store
    // CHECK: gpu.return
    tile.store %c, %s[%z, %i] : !C, !F
    gpu.return
  }
}
