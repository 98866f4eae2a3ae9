// RUN: tile-opt %s --split-input-file | tile-opt --split-input-file | FileCheck %s

!D = memref<2x128x256xf32, #tile.tensor<"d">>
!S = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
!Pair = memref<256x64xf32, #tile.tensor<"d cta_group::2">>

// CHECK-LABEL: func.func @buffers(
func.func @buffers() {
  // CHECK: tile.alloc_tensor : memref<2x128x256xf32, #tile.tensor<"d">>
  %d = tile.alloc_tensor : !D
  // CHECK: tile.alloc_tensor : memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
  %s = tile.alloc_tensor : !S
  // CHECK: tile.alloc_tensor {cta_group = 2 : i64} : memref<256x64xf32, #tile.tensor<"d cta_group::2">>
  %p = tile.alloc_tensor {cta_group = 2} : !Pair
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>

// CHECK-LABEL: func.func @columns(
func.func @columns(%slot: !Slot) {
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 128 : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_alloc %slot columns 128 : !Slot
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 512 {cta_group = 2 : i64} : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_alloc %slot columns 512 {cta_group = 2} : !Slot
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 32 {exclusive} : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_alloc %slot columns 32 {exclusive} : !Slot
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>

// CHECK-LABEL: func.func @columns(
func.func @columns(%slot: !Slot) {
  // CHECK: tile.tcgen05_dealloc %{{.*}} columns 128 : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_dealloc %slot columns 128 : !Slot
  // CHECK: tile.tcgen05_dealloc %{{.*}} columns 512 {cta_group = 2 : i64} : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_dealloc %slot columns 512 {cta_group = 2} : !Slot
  // CHECK: tile.tcgen05_dealloc %{{.*}} columns 32 {exclusive} : memref<1x1xi32, #{{.*}}>
  tile.tcgen05_dealloc %slot columns 32 {exclusive} : !Slot
  return
}

// -----

// CHECK-LABEL: func.func @permit(
func.func @permit() {
  // CHECK: tile.tcgen05_relinquish{{$}}
  tile.tcgen05_relinquish
  // CHECK: tile.tcgen05_relinquish {cta_group = 2 : i64}
  tile.tcgen05_relinquish {cta_group = 2}
  return
}

// -----

!Slot = memref<1x1xi32, #tile.shared<"none">>
!D = memref<128x64xf32, #tile.tensor<"d">>

// CHECK-LABEL: func.func @buffer(
func.func @buffer(%slot: !Slot) -> !D {
  // CHECK: tile.tensor_buffer %{{.*}} column 64 : memref<1x1xi32, #{{.*}}> -> memref<128x64xf32, #tile.tensor<"d">>
  %d = tile.tensor_buffer %slot column 64 : !Slot -> !D
  return %d : !D
}
