// RUN: tile-opt %s --split-input-file --verify-diagnostics

!W = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!A = !tile.frag<tensor<64x16xf16>, #tile.layout<"m64n128k16 a f16">>
func.func @layout(%w: !W) {
  // expected-error @below {{a warp's part is !tile.frag<tensor<16x16xf16>, #tile.layout<}}
  %a = tile.join_warps %w : !W -> !A
  return
}
