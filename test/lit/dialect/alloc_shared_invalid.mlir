// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @no_memref() {
  // expected-error @below {{'tile.alloc_shared' op result must be a ranked memref, not f32}}
  %0 = tile.alloc_shared : f32
  return
}

// -----

func.func @unranked() {
  // expected-error @below {{result must be a ranked memref, not memref<*xf16, #tile.shared<"none">>}}
  %0 = tile.alloc_shared : memref<*xf16, #tile.shared<"none">>
  return
}

// -----

func.func @space() {
  // expected-error @below {{result must be in the space #tile.shared<"…"> or #gpu.address_space<workgroup>, not memref<8x8xf16, 3>}}
  %0 = tile.alloc_shared : memref<8x8xf16, 3>
  return
}

// -----

func.func @unknown_swizzle() {
  // expected-error @below {{unknown swizzle '16B'; legal: none, 32B, 64B, 128B, swizzle<B,M,S>}}
  %0 = tile.alloc_shared : memref<8x8xf16, #tile.shared<"16B">>
  return
}

// -----

func.func @impossible_swizzle() {
  // expected-error @below {{swizzle<3,4,2> XORs bits with themselves; its shift must be at least 3}}
  %0 = tile.alloc_shared : memref<8x64xf16, #tile.shared<"swizzle<3,4,2>">>
  return
}

// -----

func.func @swizzle_tears_elements() {
  // expected-error @below {{swizzle<3,2,3> takes elements of 64 bits apart}}
  %0 = tile.alloc_shared : memref<8x32xf64, #tile.shared<"swizzle<3,2,3>">>
  return
}

// -----

func.func @layout_of_other_extents() {
  // expected-error @below {{is not one of a 4x2 matrix: offset … -> row 4, col 2}}
  %0 = tile.alloc_shared : memref<4x2xf16, #tile.shared<"offset [0,1] [1,0] -> row 2, col 2">>
  return
}

// -----

func.func @layout_with_holes() {
  // expected-error @below {{puts two elements at the same position}}
  %0 = tile.alloc_shared : memref<2x2xf16, #tile.shared<"offset [0,1] [0,1] -> row 2, col 2">>
  return
}

// -----

func.func @dynamic() {
  // expected-error @below {{a shared buffer has a static shape of rank 2 or more, not memref<8x?xf16}}
  %0 = tile.alloc_shared : memref<8x?xf16, #tile.shared<"none">>
  return
}

// -----

func.func @rank() {
  // expected-error @below {{a shared buffer has a static shape of rank 2 or more, not memref<64xf16}}
  %0 = tile.alloc_shared : memref<64xf16, #tile.shared<"none">>
  return
}

// -----

func.func @column_major() {
  // expected-error @below {{a shared buffer is row-major, not memref<8x16xf16, strided<[1, 8]>}}
  %0 = tile.alloc_shared : memref<8x16xf16, strided<[1, 8]>, #tile.shared<"none">>
  return
}

// -----

func.func @layout_without_strides() {
  // expected-error @below {{result must have a layout of strides, unlike memref<8x16xf16, affine_map<}}
  %0 = tile.alloc_shared
      : memref<8x16xf16, affine_map<(i, j) -> (i floordiv 2, j)>, #tile.shared<"none">>
  return
}

// -----

func.func @extents() {
  // expected-error @below {{columns of a shared buffer are a power of two, unlike those of memref<8x24xf16}}
  %0 = tile.alloc_shared : memref<8x24xf16, #tile.shared<"none">>
  return
}

// -----

func.func @empty() {
  // expected-error @below {{a shared buffer has elements, unlike memref<0x8x8xf16}}
  %0 = tile.alloc_shared : memref<0x8x8xf16, #tile.shared<"none">>
  return
}

// -----

func.func @bits() {
  // expected-error @below {{elements of type i4 are smaller than a byte, so they have no address}}
  %0 = tile.alloc_shared : memref<8x16xi4, #tile.shared<"none">>
  return
}

// -----

func.func @no_numbers() {
  // expected-error @below {{elements are integers or floating-point numbers, not index}}
  %0 = tile.alloc_shared : memref<8x16xindex, #tile.shared<"none">>
  return
}

// -----

func.func @results() {
  // expected-error @below {{op expects exactly 1 results, but got 0}}
  "tile.alloc_shared"() : () -> ()
  return
}

// -----

func.func @offset() {
  // expected-error @below {{'tile.alloc_shared' op offset must be 0 or more, not -1024}}
  %0 = tile.alloc_shared at -1024 : memref<8x16xf16, #tile.shared<"none">>
  return
}

// -----

func.func @dynamic_array() {
  // expected-error @below {{an array in shared memory has known extents of 1 or more, not memref<8x?xf16}}
  %0 = tile.alloc_shared : memref<8x?xf16, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @strided_array() {
  // expected-error @below {{an array in shared memory is row-major, not memref<8x16xf16, strided<[1, 8]>}}
  %0 = tile.alloc_shared : memref<8x16xf16, strided<[1, 8]>, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @bits_of_an_array() {
  // expected-error @below {{elements of type i4 are smaller than a byte, so they have no address}}
  %0 = tile.alloc_shared : memref<16xi4, #gpu.address_space<workgroup>>
  return
}

// -----

func.func @other_space() {
  // expected-error @below {{or #gpu.address_space<workgroup>, not memref<16xf16, #gpu.address_space<private>>}}
  %0 = tile.alloc_shared : memref<16xf16, #gpu.address_space<private>>
  return
}
