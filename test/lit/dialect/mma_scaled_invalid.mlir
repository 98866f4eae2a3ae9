// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @family(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_scaled' op takes a form of mma.block_scale; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is one of mma}}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @byte_id_a(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_scaled' op byte_id_a of mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is 0, 2, not 1}}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 1, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @thread_id_a(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_scaled' op thread_id_a of mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is 0, 1, not 2}}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 2, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @byte_id_b(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_scaled' op byte_id_b of mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is 0, 2, not 3}}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 0, byte_id_b = 3, thread_id_b = 0} : !A, !B, !C, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @thread_id_b(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // expected-error @below {{'tile.mma_scaled' op thread_id_b of mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is 0, 1, 2, 3, not 4}}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 4} : !A, !B, !C, !SA, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @scales(%a: !A, %b: !B, %c: !C, %sb: !SB) {
  // expected-error @below {{'tile.mma_scaled' op operand sfa of mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 is a fragment of tensor<32x4xf8E8M0FNU>, not !tile.frag<tensor<4x32xf8E8M0FNU>}}
  %d = tile.mma_scaled %a, %b, %c, %sb, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !A, !B, !C, !SB, !SB
  return
}

// -----

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
func.func @kind_of_id(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.string'}}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = "3"} : !A, !B, !C, !SA, !SB
  return
}
