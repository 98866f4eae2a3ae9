// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

#ROW = #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">
#COL = #tile.layout<"register [1,0] [2,0] [0,8]; lane [4,0] [8,0] [0,1] [0,2] [0,4] -> row 16, col 16">
#D = #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">
!S = memref<32x32xi8, #tile.shared<"none">>

gpu.module @m [#nvvm.target<chip = "sm_120a">] {
  // CHECK-LABEL: gpu.func @loads(
  gpu.func @loads() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    // A matrix of 16 rows gives two registers.
    // CHECK: llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3(%{{.*}}) {convergent} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
    %0 = tile.ldmatrix %s[%z, %z] {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"}
        : !S -> !tile.frag<tensor<16x16xi8>, #COL>
    // CHECK: %[[B6:.*]] = llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32.p3(
    // CHECK-NEXT: llvm.bitcast %[[B6]] : i32 to vector<4xi8>
    %1 = tile.ldmatrix %s[%z, %z] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32"}
        : !S -> !tile.frag<tensor<8x16x!tile.byte<f6E2M3FN>>, #ROW>
    // The instruction leaves 4 bits at the low end of the byte; the type has them in the middle.
    // CHECK: %[[B4:.*]] = llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64.p3(
    // CHECK: %[[MOVED:.*]] = arith.shli %[[B4]], %c2_i32
    // CHECK-NEXT: llvm.bitcast %[[MOVED]] : i32 to vector<4xi8>
    %2 = tile.ldmatrix %s[%z, %z] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"}
        : !S -> !tile.frag<tensor<8x16x!tile.byte<f4E2M1FN>>, #ROW>
    // As integers they stay.
    // CHECK: %[[I4:.*]] = llvm.call @llvm.nvvm.ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64.p3(
    // CHECK-NEXT: llvm.bitcast %[[I4]] : i32 to vector<4xi8>
    %3 = tile.ldmatrix %s[%z, %z] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"}
        : !S -> !tile.frag<tensor<8x16xi8>, #ROW>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @store(
  gpu.func @store(%b: i8) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    %d = tile.fill %b : i8 -> !tile.frag<tensor<16x8xi8>, #D>
    // CHECK: llvm.call @llvm.nvvm.stmatrix.sync.aligned.m16n8.x1.trans.b8.p3(%{{.*}}, %{{.*}}) {convergent} : (!llvm.ptr<3>, i32) -> ()
    tile.stmatrix %d, %s[%z, %z] transposed {form = "stmatrix.sync.aligned.m16n8.x1.trans.b8"}
        : !tile.frag<tensor<16x8xi8>, #D>, !S
    gpu.return
  }
}
