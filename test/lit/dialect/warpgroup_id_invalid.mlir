// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @type() {
  // expected-error @below {{'tile.warpgroup_id' op the number is of type index, not i32}}
  %n = "tile.warpgroup_id"() : () -> i32
  return
}
