// RUN: tile-opt %s | tile-opt | FileCheck %s

!Slot = memref<1x1xi32, #tile.shared<"none">>
!D = memref<128x64xf32, #tile.tensor<"d">>

// CHECK-LABEL: func.func @buffer(
func.func @buffer(%slot: !Slot) -> !D {
  // CHECK: tile.tensor_buffer %{{.*}} column 64 : memref<1x1xi32, #{{.*}}> -> memref<128x64xf32, #tile.tensor<"d">>
  %d = tile.tensor_buffer %slot column 64 : !Slot -> !D
  return %d : !D
}
