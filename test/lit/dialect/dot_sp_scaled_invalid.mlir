// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @type_of_scales(%a: tensor<16x32xf8E4M3FN>, %b: tensor<64x8xf8E4M3FN>, %c: tensor<16x8xf32>, %e: tensor<16x16xi4>, %sa: tensor<16x1xf8E4M3FN>, %sb: tensor<1x8xf8E8M0FNU>) {
  // expected-error @below {{'tile.dot_sp_scaled' op operand sfa of mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 has elements of type f8E8M0FNU, not f8E4M3FN}}
  %d = tile.dot_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"} : tensor<16x32xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x16xi4>, tensor<16x1xf8E4M3FN>, tensor<1x8xf8E8M0FNU>
  return
}

// -----

func.func @warps(%a: tensor<16x32xf8E4M3FN>, %b: tensor<64x8xf8E4M3FN>, %c: tensor<16x8xf32>, %e: tensor<16x16xi4>, %sa: tensor<16x1xf8E8M0FNU>, %sb: tensor<1x8xf8E8M0FNU>) {
  // expected-error @below {{'tile.dot_sp_scaled' op warps must be array<i64: M, N>, two powers of two, not array<i64: 3, 1>}}
  %d = tile.dot_sp_scaled %a, %b, %c, %e, %sa, %sb {warps = array<i64: 3, 1>} : tensor<16x32xf8E4M3FN>, tensor<64x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x16xi4>, tensor<16x1xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
  return
}
