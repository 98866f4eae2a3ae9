// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @operand(%i: index) {
  // expected-error @below {{op expects exactly 0 operands, but got 1}}
  "tile.async_commit"(%i) : (index) -> ()
  return
}

// -----

func.func @result() {
  // expected-error @below {{op expects exactly 0 results, but got 1}}
  %0 = "tile.async_commit"() : () -> index
  return
}

// -----

func.func @attribute() {
  // expected-error @below {{'tile.async_commit' op unknown attribute 'pending'}}
  tile.async_commit {pending = 1}
  return
}
