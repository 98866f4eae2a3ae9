// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @attribute() {
  // expected-error @below {{unknown attribute 'pending'}}
  tile.tcgen05_wait_st {pending = 1}
  return
}
