// RUN: tile-opt %s --split-input-file --verify-diagnostics

!W = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!A = !tile.frag<tensor<64x16xf16>, #tile.layout<"m64n128k16 a f16">>
func.func @layout(%w: !W) {
  // expected-error @below {{a warp's part is !tile.frag<tensor<16x16xf16>, #tile.layout<}}
  %a = tile.join_warps %w : !W -> !A
  return
}

// -----

!P = !tile.frag<tensor<16x64xf32>, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 64">>
!D = !tile.frag<tensor<64x192xf32>, #tile.layout<"m64n192k16 d f32">>
func.func @columns(%p: !P) {
  // expected-error @below {{columns are a power of two, at least 8, from a multiple of them on, of the 192 that there are; not 96 from 0 on}}
  %d = tile.join_warps %p, %p : !P -> !D
  return
}
