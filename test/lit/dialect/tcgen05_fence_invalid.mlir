// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @side() {
  // expected-error @below {{'tile.tcgen05_fence' op orders before or after, not between}}
  tile.tcgen05_fence between
  return
}
