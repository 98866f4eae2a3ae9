// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @dense_form(%a: tensor<16x16xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %e: tensor<16x8xi4>) {
  // expected-error @below {{'tile.dot_sp' op takes a form of mma.sp; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is one of mma}}
  %d = tile.dot_sp %a, %b, %c, %e {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : tensor<16x16xf16>, tensor<32x8xf16>, tensor<16x8xf32>, tensor<16x8xi4>
  return
}

// -----

func.func @rows_of_metadata(%a: tensor<16x16xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %e: tensor<8x8xi4>) {
  // expected-error @below {{'tile.dot_sp' op shapes do not match: A 16x16, B 32x8, C 16x8, E 8x8, D 16x8; with A MxK, B is KxN, C and D are MxN, e and sfa have M rows, sfb has N columns}}
  %d = tile.dot_sp %a, %b, %c, %e
      : tensor<16x16xf16>, tensor<32x8xf16>, tensor<16x8xf32>, tensor<8x8xi4>
  return
}

// -----

func.func @dense_a(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %e: tensor<16x8xi4>) {
  // expected-error @below {{'tile.dot_sp' op shapes do not match: a 16x32, b 32x8, c 16x8, e 16x8, d 16x8; one instruction mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 has a 16x16, b 32x8, c 16x8, e 16x8, d 16x8}}
  %d = tile.dot_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>, tensor<16x8xi4>
  return
}

// -----

func.func @metadata_type(%a: tensor<16x16xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %e: tensor<16x8xi8>) {
  // expected-error @below {{'tile.dot_sp' op operand e of mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 has elements of type i4, not i8}}
  %d = tile.dot_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : tensor<16x16xf16>, tensor<32x8xf16>, tensor<16x8xf32>, tensor<16x8xi8>
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!B = tensor<32x8xf16, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>
!C = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
!E = tensor<16x8xi4, #tile.layout<"register [0,1] [0,2]; lane [0,4] [8,0] [1,0] [2,0] [4,0] -> row 16, col 8">>
func.func @layout_of_metadata(%a: !A, %b: !B, %c: !C, %e: !E) {
  // expected-error @below {{of operand e is not a repetition of the fragment 'register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16' of mma.sp::ordered_metadata}}
  %d = tile.dot_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : !A, !B, !C, !E
  return
}

// -----

func.func @signed_form(%a: tensor<16x16xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>, %e: tensor<16x8xi4>) {
  // expected-error @below {{'tile.dot_sp' op mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 takes s8 as b, whose integers are unsigned here; legal: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32, or omit the form to let tilec choose}}
  %d = tile.dot_sp %a, %b, %c, %e unsigned_b {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"} : tensor<16x16xi8>, tensor<32x8xi8>, tensor<16x8xi32>, tensor<16x8xi4>
  return
}
