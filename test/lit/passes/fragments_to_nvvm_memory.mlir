// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!W = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Lane l holds two neighbours of row l / 4 from column 2·(l % 4) on; the other pairs lie 8 rows,
  // 8 columns, and both further: 8·16, 8 and 8·16 + 8 elements of two bytes.
  // CHECK-LABEL: gpu.func @a(
  gpu.func @a(%g: memref<16x16xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[T:.*]] = gpu.thread_id x
    // CHECK: %[[C31:.*]] = arith.constant 31 : index
    // CHECK: %[[LANE:.*]] = arith.andi %[[T]], %[[C31]] : index
    // CHECK: %[[C2:.*]] = arith.constant 2 : index
    // CHECK: %[[ROW:.*]] = arith.shrui %[[LANE]], %[[C2]] : index
    // CHECK: %[[C3:.*]] = arith.constant 3 : index
    // CHECK: %[[QUAD:.*]] = arith.andi %[[LANE]], %[[C3]] : index
    // CHECK: %[[C1:.*]] = arith.constant 1 : index
    // CHECK: %[[COL:.*]] = arith.shli %[[QUAD]], %[[C1]] : index
    // CHECK: %[[PASSED:.*]] = llvm.extractvalue %{{.*}}[1]
    // CHECK: %[[BASE:.*]] = llvm.addrspacecast %[[PASSED]] : !llvm.ptr to !llvm.ptr<1>
    // CHECK: %[[ROW64:.*]] = arith.index_cast %[[ROW]] : index to i64
    // CHECK: %[[S:.*]] = llvm.mlir.constant(16 : i64) : i64
    // CHECK: %[[DOWN:.*]] = llvm.mul %[[ROW64]], %[[S]] : i64
    // CHECK: %[[P0:.*]] = llvm.getelementptr %[[BASE]][%[[DOWN]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    // CHECK: %[[COL64:.*]] = arith.index_cast %[[COL]] : index to i64
    // CHECK: %[[P:.*]] = llvm.getelementptr %[[P0]][%[[COL64]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    // CHECK: %[[V0:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    // CHECK: %[[P1:.*]] = llvm.getelementptr %[[P]][256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    // CHECK: %[[V1:.*]] = llvm.load %[[P1]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    // CHECK: %[[P2:.*]] = llvm.getelementptr %[[P]][16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    // CHECK: %[[V2:.*]] = llvm.load %[[P2]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    // CHECK: %[[P3:.*]] = llvm.getelementptr %[[P]][272] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    // CHECK: %[[V3:.*]] = llvm.load %[[P3]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    %z = arith.constant 0 : index
    %a = tile.load %g[%z, %z] {vector = 2} : memref<16x16xf16> -> !A
    // Without the promise they come one by one.
    // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
    %b = tile.load %g[%z, %z] : memref<16x16xf16> -> !A
    // B's neighbours lie in different rows of memory, which no promise joins.
    // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
    %c = tile.load %g[%z, %z] {vector = 8} : memref<16x16xf16> -> !B
    // In the transpose they are neighbours: column l / 4 is the row of memory.
    // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    %d = tile.load %g[%z, %z] transposed {vector = 8} : memref<16x16xf16> -> !B
    // Sixteen bytes are the widest.
    // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %e = tile.load %g[%z, %z] {vector = 16} : memref<16x16xf16> -> !W
    // CHECK-NOT: llvm.load
    // CHECK: gpu.return
    gpu.return
  }

  // What the type does not say comes from the descriptor; an index that is not a known multiple breaks
  // the promise.
  // CHECK-LABEL: gpu.func @dynamic(
  // CHECK-SAME: %[[G:[A-Za-z0-9_]+]]: memref<?x?xf16, strided<[?, 1], offset: ?>, 1>, %[[I:[A-Za-z0-9_]+]]: index
  gpu.func @dynamic(%g: memref<?x?xf16, strided<[?, 1], offset: ?>, 1>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[D:.*]] = builtin.unrealized_conversion_cast %[[G]] : {{.*}} to !llvm.struct<(ptr<1>, ptr<1>, i64, array<2 x i64>, array<2 x i64>)>
    // CHECK: %[[P:.*]] = llvm.extractvalue %[[D]][1]
    // CHECK: %[[OFF:.*]] = llvm.extractvalue %[[D]][2]
    // CHECK: %[[P0:.*]] = llvm.getelementptr %[[P]][%[[OFF]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i16
    // CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : index
    // CHECK: %[[SUM64:.*]] = arith.index_cast %[[SUM]] : index to i64
    // CHECK: %[[S:.*]] = llvm.extractvalue %[[D]][4, 0]
    // CHECK: %[[DOWN:.*]] = llvm.mul %[[SUM64]], %[[S]] : i64
    // CHECK: llvm.getelementptr %[[P0]][%[[DOWN]]]
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    // CHECK: %[[C8:.*]] = llvm.mlir.constant(8 : i64) : i64
    // CHECK: %[[DOWN8:.*]] = llvm.mul %[[C8]], %[[S]] : i64
    // CHECK: llvm.getelementptr %{{.*}}[%[[DOWN8]]]
    %z = arith.constant 0 : index
    %a = tile.load %g[%i, %z] {vector = 8} : memref<?x?xf16, strided<[?, 1], offset: ?>, 1> -> !A
    // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> f16
    %b = tile.load %g[%z, %i] {vector = 8} : memref<?x?xf16, strided<[?, 1], offset: ?>, 1> -> !A
    // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
    %c4 = arith.constant 4 : index
    %j = arith.muli %i, %c4 : index
    %c = tile.load %g[%z, %j] {vector = 8} : memref<?x?xf16, strided<[?, 1], offset: ?>, 1> -> !A
    // CHECK-NOT: llvm.load
    // CHECK: gpu.return
    gpu.return
  }

  // Outside the extents nothing is read or written; what is loaded is zero there.
  // CHECK-LABEL: gpu.func @masked(
  // CHECK-SAME: %[[G:[A-Za-z0-9_]+]]: memref<?x7xf32>, %[[I:[A-Za-z0-9_]+]]: index
  gpu.func @masked(%g: memref<?x7xf32>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[ROWI:.*]] = arith.addi %[[I]], %{{.*}} : index
    // CHECK: %[[R:.*]] = arith.index_cast %[[ROWI]] : index to i64
    // CHECK: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i64) : i64
    // CHECK: %[[PTR:.*]] = llvm.getelementptr %{{.*}} -> !llvm.ptr<1>, i32
    // CHECK: %[[COL:.*]] = arith.index_cast %{{.*}} : index to i64
    // CHECK: %[[ADDR:.*]] = llvm.getelementptr %[[PTR]][%[[COL]]]
    // CHECK: %[[ROWS:.*]] = llvm.extractvalue %{{.*}}[3, 0]
    // CHECK: %[[IN0:.*]] = llvm.icmp "ult" %[[R]], %[[ROWS]] : i64
    // CHECK: %[[IN1:.*]] = llvm.icmp "ult" %[[COL]], %[[SEVEN]] : i64
    // CHECK: %[[IN:.*]] = llvm.and %[[IN0]], %[[IN1]] : i1
    // CHECK: llvm.inline_asm has_side_effects "mov.b32 $0, 0;\0A\09@$1 ld.global.b32 $0, [$2];", "=r,b,l,~{memory}" %[[IN]], %[[ADDR]] : (i1, !llvm.ptr<1>) -> f32
    // The next column has a test of its own, the row's is shared.
    // CHECK: %[[COL1:.*]] = llvm.add %[[COL]], %{{.*}} : i64
    // CHECK: %[[IN2:.*]] = llvm.icmp "ult" %[[COL1]], %{{.*}} : i64
    // CHECK: %[[IN02:.*]] = llvm.and %[[IN0]], %[[IN2]] : i1
    // CHECK: llvm.inline_asm has_side_effects "{{.*}} ld.global.b32 $0, [$2+4];", {{.*}} %[[IN02]], %[[ADDR]] :
    %z = arith.constant 0 : index
    %c = tile.load %g[%i, %z] masked : memref<?x7xf32> -> !C
    // CHECK: llvm.inline_asm has_side_effects "@$0 st.global.b32 [$1], $2;", "b,l,r,~{memory}" %{{.*}}, %[[ADDR]], %{{.*}} : (i1, !llvm.ptr<1>, f32) -> ()
    // CHECK: llvm.inline_asm has_side_effects "@$0 st.global.b32 [$1+4], $2;", {{.*}} %[[ADDR]],
    // Eight rows of seven.
    // CHECK: llvm.inline_asm has_side_effects "@$0 st.global.b32 [$1+224], $2;", {{.*}} %[[ADDR]],
    // CHECK: llvm.inline_asm has_side_effects "@$0 st.global.b32 [$1+228], $2;", {{.*}} %[[ADDR]],
    // CHECK-NOT: scf.if
    tile.store %c, %g[%i, %z] masked : !C, memref<?x7xf32>
    gpu.return
  }

  // An index that is no less than 0 is compared by what is left after it, one number a place.
  // CHECK-LABEL: gpu.func @masked_from_the_end(
  gpu.func @masked_from_the_end(%g: memref<?x16xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : index to i64
    // CHECK: %[[ROWS:.*]] = llvm.extractvalue %{{.*}}[3, 0]
    // CHECK: %[[LEFT:.*]] = llvm.sub %[[ROWS]], %[[ROW]] : i64
    // CHECK: %[[C32:.*]] = llvm.mlir.constant(32 : i64) : i64
    // CHECK: llvm.icmp "sgt" %[[LEFT]], %[[C32]] : i64
    // CHECK: %[[C40:.*]] = llvm.mlir.constant(40 : i64) : i64
    // CHECK: llvm.icmp "sgt" %[[LEFT]], %[[C40]] : i64
    %z = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c32 = arith.constant 32 : index
    %b = gpu.block_id x
    %first = arith.muli %b, %c64 : index
    %row = arith.addi %first, %c32 : index
    %c = tile.fill %x : f32 -> !C
    tile.store %c, %g[%row, %z] masked : !C, memref<?x16xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @store(
  gpu.func @store(%g: memref<16x8xf32>, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: vector.from_elements %{{.*}} : vector<2xf32>
    // CHECK: llvm.store %{{.*}}, %[[P:.*]] {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    // CHECK: %[[P1:.*]] = llvm.getelementptr %[[P]][256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    // CHECK: llvm.store %{{.*}}, %[[P1]] {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    %z = arith.constant 0 : index
    %c = tile.fill %x : f32 -> !C
    tile.store %c, %g[%z, %z] {vector = 2} : !C, memref<16x8xf32>
    gpu.return
  }

  // Not what a kernel is passed: which memory it is, is for the hardware to find out.
  // CHECK-LABEL: gpu.func @elsewhere(
  gpu.func @elsewhere(%x: f32, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK-NOT: addrspacecast
    // CHECK: llvm.inline_asm has_side_effects "@$0 st.b32 [$1], $2;", "b,l,r,~{memory}" %{{.*}} : (i1, !llvm.ptr, f32) -> ()
    %z = arith.constant 0 : index
    %g = memref.alloca() : memref<16x7xf32>
    %c = tile.fill %x : f32 -> !C
    tile.store %c, %g[%i, %z] masked : !C, memref<16x7xf32>
    gpu.return
  }
}
