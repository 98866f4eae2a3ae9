// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Bars = memref<3x8x8xi64, #tile.shared<"none">>
func.func @matrices(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.barrier_init %b[%i] count 3 : !Bars
  return
}

// -----

!Bars = memref<3xi64>
func.func @global_memory(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.barrier_init %b[%i] count 3 : !Bars
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @number(%b: !Bars, %i: index, %p: i1) {
  // expected-error @below {{'tile.barrier_init' op count must be 1 to 1048575, not 0}}
  tile.barrier_init %b[%i] count 0 : !Bars
  return
}
