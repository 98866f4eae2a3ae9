// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Words = memref<3xi32, #tile.shared<"none">>
func.func @barriers(%b: !Words, %i: index) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.tcgen05_commit %b[%i] : !Words
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @masks(%b: !Bars, %i: index) {
  // expected-error @below {{takes one mask, not 2}}
  "tile.tcgen05_commit"(%b, %i, %i, %i) : (!Bars, index, index, index) -> ()
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @group(%b: !Bars, %i: index) {
  // expected-error @below {{cta_group is 1 or 2, not 3}}
  tile.tcgen05_commit %b[%i] {cta_group = 3} : !Bars
  return
}
