// RUN: tile-opt %s --split-input-file --verify-diagnostics

!W = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @one_warp() {
  // expected-error @below {{'tile.accumulator' op result must be a !tile.frag of a warpgroup}}
  %z = tile.accumulator : !W
  return
}

// -----

!W = !tile.frag<tensor<64x64xf32>, #tile.layout<"m64n96k16 d f32">>
func.func @extents() {
  // expected-error @below {{layout 'm64n96k16 d f32' is of a 64x96 tile, not of tensor<64x64xf32>}}
  %z = tile.accumulator : !W
  return
}

// -----

!W = !tile.frag<tensor<64x96xf32>, #tile.layout<"m64n96k16 d f32">>
func.func @others_take_none(%x: f32) {
  // expected-error @below {{layout 'm64n96k16 d f32' repeats 12 times, not a power of two; only tile.wgmma and related ops take fragments of a warpgroup; tile.warp_part gives the part of a warp}}
  %z = tile.fill %x : f32 -> !W
  return
}
