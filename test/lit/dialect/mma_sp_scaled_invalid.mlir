// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k128 a e2m1 sparse">>
!B = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"m16n8k128 b e2m1 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @family(%a: !A, %b: !B, %c: !C, %e: !E, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_sp_scaled' op takes a form of mma.sp.block_scale; mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is one of mma.block_scale}}
  %d = tile.mma_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 0, byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !E, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k128 a e2m1 sparse">>
!B = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"m16n8k128 b e2m1 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @selector(%a: !A, %b: !B, %c: !C, %e: !E, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_sp_scaled' op selector of mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is 0, not 1}}
  %d = tile.mma_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 1, byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !E, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k128 a e2m1 sparse">>
!B = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"m16n8k128 b e2m1 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @thread_id_b(%a: !A, %b: !B, %c: !C, %e: !E, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_sp_scaled' op thread_id_b of mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is 0, 1, 2, 3, not 4}}
  %d = tile.mma_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 0, byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 4} : !A, !B, !C, !E, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k128 a e2m1 sparse">>
!B = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"m16n8k128 b e2m1 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @code(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  %code = arith.constant 0 : i4
  %e = tile.fill %code : i4 -> !E
  // expected-error @below {{'tile.mma_sp_scaled' op metadata 0b0000 is not a code of mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0; legal: 0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110}}
  %d = tile.mma_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 0, byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !E, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k128 a e2m1 sparse">>
!B = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"m16n8k128 b e2m1 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
!H = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
func.func @shape_of_b(%a: !A, %b: !H, %c: !C, %e: !E, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_sp_scaled' op operand b of mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is a fragment of tensor<128x8xf4E2M1FN>, not}}
  %d = tile.mma_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 0, byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !H, !C, !E, !SA, !SB
  return
}
