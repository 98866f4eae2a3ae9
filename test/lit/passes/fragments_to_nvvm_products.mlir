// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

// Each op becomes one call: registers in PTX's order, selectors as constants among them.

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!A4 = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B4 = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!SP = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k128 a e2m1 sparse">>
!SB4 = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"m16n8k128 b e2m1 sparse">>
!E4 = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SFA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SFB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
!M = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
!MT = !tile.frag<tensor<8x8xf16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>

gpu.module @sparse [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @sparse(
  gpu.func @sparse(%h: f16, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %a = tile.fill %h : f16 -> !A
    %b = tile.fill %h : f16 -> !B
    %c = tile.fill %x : f32 -> !C
    %code = arith.constant 4 : i4
    %e = tile.fill %code : i4 -> !E
    // Four registers of A and of B, four of C, the metadata as one word, the selector.
    // CHECK: llvm.mlir.constant(28 : i32) : i32
    // CHECK: %[[SELECTOR:.*]] = llvm.mlir.constant(1 : i32) : i32
    // CHECK: %[[META:.*]] = llvm.bitcast %{{.*}} : vector<8xi4> to i32
    // CHECK: %[[R:.*]] = llvm.call @llvm.nvvm.mma.sp.ordered.metadata.m16n8k32.row.col.f32.f32({{((%[^,]*, ){12})}}%[[META]], %[[SELECTOR]]) {convergent}
    // CHECK: llvm.extractvalue %[[R]][3]
    %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 1} : !A, !B, !C, !E
    // CHECK: llvm.call @llvm.nvvm.mma.sp.m16n8k32.row.col.f32.f32(
    %f = tile.mma_sp %a, %b, %c, %e {form = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !E
    gpu.return
  }

  // LLVM has no intrinsic of it.
  // CHECK-LABEL: gpu.func @movmatrix(
  gpu.func @movmatrix(%h: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: %[[T:.*]] = llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
    // CHECK-NEXT: llvm.bitcast %[[T]] : i32 to vector<2xf16>
    %m = tile.fill %h : f16 -> !M
    %t = tile.movmatrix %m {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !M -> !MT
    gpu.return
  }
}

gpu.module @scaled [#nvvm.target<chip = "sm_120a">] {
  // CHECK-LABEL: gpu.func @scaled(
  gpu.func @scaled(%x: f32, %m: memref<32x32xi8>, %n: memref<128x64xi8>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %m[%z, %z] : memref<32x32xi8> -> !A4
    %b = tile.load %n[%z, %z] transposed : memref<128x64xi8> -> !B4
    %c = tile.fill %x : f32 -> !C
    %sfa = tile.load %m[%z, %z] : memref<32x32xi8> -> !SFA
    %sfb = tile.load %m[%z, %z] : memref<32x32xi8> -> !SFB
    // Each scale register is followed by its byte id and its thread id.
    // CHECK: llvm.call @llvm.nvvm.mma.block.scale.m16n8k64.row.col.mxf4.scale.2x.f32.e2m1.e2m1.f32.ue8m0({{((%[^,]*, ){15})}}%{{[^,]*}}) {convergent} : ({{((i32, ){6}(f32, ){4})}}i32, i16, i16, i32, i16, i16) -> !llvm.struct<(f32, f32, f32, f32)>
    %d = tile.mma_scaled %a, %b, %c, %sfa, %sfb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 1, byte_id_b = 2, thread_id_b = 3} : !A4, !B4, !C, !SFA, !SFB
    %s = tile.load %m[%z, %z] : memref<32x32xi8> -> !SP
    %sb = tile.load %n[%z, %z] transposed : memref<128x64xi8> -> !SB4
    %code = arith.constant 4 : i4
    %e = tile.fill %code : i4 -> !E4
    // The metadata and its selector stand before the scales.
    // CHECK: llvm.call @llvm.nvvm.mma.sp.ordered.metadata.block.scale.m16n8k128.row.col.mxf4.scale.2x.f32.e2m1.e2m1.f32.ue8m0({{.*}}) {convergent} : ({{((i32, ){8}(f32, ){4})}}i32, i32, i32, i16, i16, i32, i16, i16)
    %f = tile.mma_sp_scaled %s, %sb, %c, %e, %sfa, %sfb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 0, byte_id_a = 2, thread_id_a = 0, byte_id_b = 0, thread_id_b = 1} : !SP, !SB4, !C, !E4, !SFA, !SFB
    gpu.return
  }
}
