// RUN: tile-opt %s --split-input-file --verify-diagnostics

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @columns(%slot: !Slot) {
  // expected-error @below {{'tile.tcgen05_dealloc' op columns of an allocation are 32, 64, 128, 256, 512, not 96}}
  tile.tcgen05_dealloc %slot columns 96 : !Slot
  return
}

// -----

!Slot = memref<1xi64, #tile.shared<"none">>
func.func @slot(%slot: !Slot) {
  // expected-error @below {{a slot is memref<1x1xi32, #tile.shared<"none">>, not memref<1xi64}}
  tile.tcgen05_dealloc %slot columns 64 : !Slot
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
func.func @group(%slot: !Slot) {
  // expected-error @below {{cta_group is 1 or 2, not 4}}
  tile.tcgen05_dealloc %slot columns 64 {cta_group = 4} : !Slot
  return
}
