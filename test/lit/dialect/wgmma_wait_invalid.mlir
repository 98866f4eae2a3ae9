// RUN: tile-opt %s --split-input-file --verify-diagnostics

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @negative(%x: !D) {
  // expected-error @below {{'tile.wgmma_wait' op pending must be 0 or more, not -1}}
  %d = tile.wgmma_wait -1 %x : !D
  return
}

// -----

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @dropped(%x: !D) {
  // expected-error @below {{returns each fragment with its type: 1 of them, not ()}}
  "tile.wgmma_wait"(%x) {pending = 0} : (!D) -> ()
  return
}

// -----

!W = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @one_warp(%x: !W) {
  // expected-error @below {{operand 0 must be a !tile.frag of a warpgroup}}
  %d = tile.wgmma_wait 0 %x : !W
  return
}
