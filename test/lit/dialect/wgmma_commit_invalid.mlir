// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @unknown_attribute() {
  // expected-error @below {{'tile.wgmma_commit' op}}
  tile.wgmma_commit {group = 1}
  return
}
