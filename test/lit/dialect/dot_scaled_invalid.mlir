// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @columns_of_scales(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E4M3FN>, %c: tensor<16x8xf32>, %sa: tensor<16x1xf8E8M0FNU>, %sb: tensor<1x16xf8E8M0FNU>) {
  // expected-error @below {{'tile.dot_scaled' op shapes do not match: A 16x32, B 32x8, C 16x8, sfa 16x1, sfb 1x16, D 16x8; with A MxK}}
  %d = tile.dot_scaled %a, %b, %c, %sa, %sb : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x1xf8E8M0FNU>, tensor<1x16xf8E8M0FNU>
  return
}

// -----

func.func @blocks(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E4M3FN>, %c: tensor<16x8xf32>, %sa: tensor<16x2xf8E8M0FNU>, %sb: tensor<1x8xf8E8M0FNU>) {
  // expected-error @below {{'tile.dot_scaled' op shapes do not match: a 16x32, b 32x8, c 16x8, sfa 16x2, sfb 1x8, d 16x8; one instruction mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 has a 16x32, b 32x8, c 16x8, sfa 16x1, sfb 1x8, d 16x8}}
  %d = tile.dot_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"} : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E4M3FN>, tensor<16x8xf32>, tensor<16x2xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
  return
}
