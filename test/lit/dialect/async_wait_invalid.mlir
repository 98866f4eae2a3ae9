// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @negative() {
  // expected-error @below {{'tile.async_wait' op pending must be 0 or more, not -1}}
  tile.async_wait -1
  return
}

// -----

func.func @absent() {
  // expected-error @below {{'tile.async_wait' op attribute "pending" is expected but not provided}}
  "tile.async_wait"() : () -> ()
  return
}

// -----

func.func @kind() {
  // expected-error @below {{expected base attribute 'builtin.integer' but got 'builtin.float'}}
  tile.async_wait 1.0
  return
}
