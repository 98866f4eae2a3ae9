// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @operand(%n: index) {
  // expected-error @below {{operand}}
  "tile.wgmma_fence"(%n) : (index) -> ()
  return
}
