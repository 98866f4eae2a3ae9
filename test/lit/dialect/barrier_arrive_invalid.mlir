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

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @several(%b: !Bars, %i: index) {
  // expected-error @below {{arrives at the mbarrier of one CTA, not of 2}}
  "tile.barrier_arrive"(%b, %i, %i, %i) : (!Bars, index, index, index) -> ()
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @rank(%b: !Bars, %i: index, %rank: i32) {
  // expected-error @below {{the rank of a CTA takes indices of type index, not i32}}
  "tile.barrier_arrive"(%b, %i, %rank) : (!Bars, index, i32) -> ()
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @both(%b: !Bars, %i: index) {
  // expected-error @below {{arrives in all CTAs of the cluster: no rank, and no thread elected}}
  tile.barrier_arrive %b[%i] elected ctas 2 : !Bars
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @too_many(%b: !Bars, %i: index) {
  // expected-error @below {{ctas must be 1 to 16, not 17}}
  tile.barrier_arrive %b[%i] ctas 17 : !Bars
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @of_none(%b: !Bars, %i: index) {
  // expected-error @below {{'tile.barrier_arrive' op is fenced for another CTA, and needs its rank}}
  tile.barrier_arrive %b[%i] fenced : !Bars
  return
}
