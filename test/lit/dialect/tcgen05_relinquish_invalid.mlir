// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @group() {
  // expected-error @below {{'tile.tcgen05_relinquish' op cta_group is 1 or 2, not 0}}
  tile.tcgen05_relinquish {cta_group = 0}
  return
}
