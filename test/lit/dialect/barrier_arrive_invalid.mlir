// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Bars = memref<3x8x8xi64, #tile.shared<"none">>
func.func @matrices(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.barrier_arrive %b[%i] : !Bars
  return
}

// -----

!Bars = memref<3xi64>
func.func @global_memory(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.barrier_arrive %b[%i] : !Bars
  return
}
