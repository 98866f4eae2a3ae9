// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @swizzles
func.func @swizzles() {
  // CHECK: tile.alloc_shared : memref<2x128x64xf16, #tile.shared<"128B">>
  %0 = tile.alloc_shared : memref<2x128x64xf16, #tile.shared<"128B">>
  // CHECK: tile.alloc_shared : memref<3x5x8x16xf32, #tile.shared<"128B">>
  %1 = tile.alloc_shared : memref<3x5x8x16xf32, #tile.shared<"128B">>
  // CHECK: memref<64x64xi8, #tile.shared<"none">>
  %2 = tile.alloc_shared : memref<64x64xi8, #tile.shared<"none">>
  // CHECK: memref<8x8xf64, #tile.shared<"32B">>
  %3 = tile.alloc_shared : memref<8x8xf64, #tile.shared<"32B">>
  // CHECK: memref<16x64xf8E4M3FN, #tile.shared<"swizzle<2,4,3>">>
  %4 = tile.alloc_shared : memref<16x64xf8E4M3FN, #tile.shared<"swizzle<2,4,3>">>
  // CHECK: memref<2x2xbf16, #shared_2x2_fb76>
  %5 = tile.alloc_shared : memref<2x2xbf16, #tile.shared<"offset [1,1] [1,0] -> row 2, col 2">>
  return
}

// The strides of a row-major memref may be written.
// CHECK-LABEL: func.func @strides
func.func @strides() {
  // CHECK: memref<8x16xf16, strided<[16, 1]>, #tile.shared<"128B">>
  %0 = tile.alloc_shared : memref<8x16xf16, strided<[16, 1]>, #tile.shared<"128B">>
  return
}

// Arrays, of any rank and extents.
// CHECK-LABEL: func.func @arrays
func.func @arrays() {
  // CHECK: tile.alloc_shared : memref<100xi32, #gpu.address_space<workgroup>>
  %0 = tile.alloc_shared : memref<100xi32, #gpu.address_space<workgroup>>
  // CHECK: tile.alloc_shared at 1024 : memref<3x5x7xf64, #gpu.address_space<workgroup>>
  %1 = tile.alloc_shared at 1024 : memref<3x5x7xf64, #gpu.address_space<workgroup>>
  return
}
