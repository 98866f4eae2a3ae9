// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @parity(%b: !Bars, %i: index, %p: i32) {
  // expected-error @below {{'tile.barrier_wait' op parity must be an i1, not i32}}
  "tile.barrier_wait"(%b, %i, %p) : (!Bars, index, i32) -> ()
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @index(%b: !Bars, %i: i64, %p: i1) {
  // expected-error @below {{takes indices of type index, not i64}}
  "tile.barrier_wait"(%b, %i, %p) : (!Bars, i64, i1) -> ()
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"128B">>
func.func @swizzle(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.barrier_wait %b[%i] parity %p : !Bars
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @cluster(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{cluster is a unit attribute: it takes no value; omit it to mean false}}
  "tile.barrier_wait"(%b, %i, %p) {cluster = 2} : (!Bars, index, i1) -> ()
  return
}
