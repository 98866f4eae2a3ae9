// RUN: tile-opt %s | tile-opt | FileCheck %s

!Slot = memref<1x1xi32, #tile.shared<"none">>

// CHECK-LABEL: func.func @columns(
func.func @columns(%slot: !Slot) {
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 128 : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_alloc %slot columns 128 : !Slot
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 512 {cta_group = 2 : i64} : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_alloc %slot columns 512 {cta_group = 2} : !Slot
  return
}
