// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"m16n8k64 a e2m1">>
!B = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"m16n8k64 b e2m1">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!SA = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!SB = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>

// CHECK-LABEL: func.func @mxf4(
func.func @mxf4(%a: !A, %b: !B, %c: !C, %sa: !SA, %sb: !SB) {
  // CHECK: tile.mma_scaled %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {byte_id_a = 0 : i64, byte_id_b = 2 : i64, form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", thread_id_a = 1 : i64, thread_id_b = 3 : i64}
  %d = tile.mma_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 1, byte_id_b = 2, thread_id_b = 3} : !A, !B, !C, !SA, !SB
  return
}
