// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @no_fragment(%n: index) {
  // expected-error @below {{'tile.wgmma_fence' op operand 0 must be a !tile.frag of a warpgroup}}
  %0 = tile.wgmma_fence %n : index
  return
}

// -----

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
func.func @dropped(%d: !D) {
  // expected-error @below {{returns each fragment with its type: 1 of them, not ()}}
  "tile.wgmma_fence"(%d) : (!D) -> ()
  return
}
