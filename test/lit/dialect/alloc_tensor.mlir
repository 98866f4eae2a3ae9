// RUN: tile-opt %s | tile-opt | FileCheck %s

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
