// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @source(%m: memref<*xf16>, %i: index) {
  // expected-error @below {{'tile.load' op source must be a ranked memref, not memref<*xf16>}}
  %0 = tile.load %m[%i, %i] : memref<*xf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @strides(%m: memref<16x16xf16, affine_map<(i, j) -> (i floordiv 2, j)>>, %i: index) {
  // expected-error @below {{'tile.load' op source must have a layout of strides, unlike memref<16x16xf16, affine_map<}}
  %0 = tile.load %m[%i, %i] : memref<16x16xf16, affine_map<(i, j) -> (i floordiv 2, j)>> -> !A
  return
}

// -----

func.func @result(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op extents of a tile are powers of two, or a few units of a power of two: 65x9 is 65x9 units of 1x1}}
  %0 = tile.load %m[%i, %i] : memref<?x?xf16> -> tensor<65x9xf16>
  return
}

// -----

!Q = !tile.frag<tensor<4x8x4xf16>, #tile.layout<"m8n8k4 a f16 row">>
func.func @rank(%m: memref<8x4xf16>, %i: index) {
  // expected-error @below {{'tile.load' op a tile of rank 3 needs a memref of that rank or more}}
  %0 = tile.load %m[%i, %i] : memref<8x4xf16> -> !Q
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @indices(%m: memref<?x?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op the access takes 3 indices, one per dimension, not 2}}
  %0 = tile.load %m[%i, %i] : memref<?x?x?xf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @index_type(%m: memref<?x?xf16>, %i: index, %j: i32) {
  // expected-error @below {{'tile.load' op the access takes indices of type index, not i32}}
  %0 = "tile.load"(%m, %i, %j) : (memref<?x?xf16>, index, i32) -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @element_type(%m: memref<?x?xbf16>, %i: index) {
  // expected-error @below {{'tile.load' op element types differ: f16 in the tile, memref<?x?xbf16> in memory}}
  %0 = tile.load %m[%i, %i] : memref<?x?xbf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @extents(%m: memref<16x8xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.load' op the tile is larger than the buffer memref<16x8xf16, #tile.shared<"none">>}}
  %0 = tile.load %m[%i, %i] : memref<16x8xf16, #tile.shared<"none">> -> !A
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
func.func @extents_of_the_transpose(%m: memref<16x8xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.load' op the tile is larger than the buffer}}
  %0 = tile.load %m[%i, %i] transposed : memref<16x8xf16, #tile.shared<"none">> -> !B
  return
}

// -----

!Q = !tile.frag<tensor<4x8x4xf16>, #tile.layout<"m8n8k4 a f16 row">>
func.func @rank_in_shared_memory(%m: memref<4x8x4xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.load' op a tile in shared memory has rank 2, not 3}}
  %0 = tile.load %m[%i, %i, %i] : memref<4x8x4xf16, #tile.shared<"none">> -> !Q
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @buffer(%m: memref<16x24xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.load' op columns of a shared buffer are a power of two}}
  %0 = tile.load %m[%i, %i] : memref<16x24xf16, #tile.shared<"none">> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @masked(%m: memref<16x16xf16, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.load' op an access to shared memory is not masked: its extents are the buffer's}}
  %0 = tile.load %m[%i, %i] masked : memref<16x16xf16, #tile.shared<"none">> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @vector_of_three(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op vector must be a power of two, not 3}}
  %0 = tile.load %m[%i, %i] {vector = 3} : memref<?x?xf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @vector_of_none(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op vector must be a power of two, not 0}}
  %0 = tile.load %m[%i, %i] {vector = 0} : memref<?x?xf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @vector_kind(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op vector must be an integer, not "wide"}}
  %0 = tile.load %m[%i, %i] {vector = "wide"} : memref<?x?xf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @unit(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op transposed is a unit attribute: it takes no value; omit it to mean false}}
  %0 = "tile.load"(%m, %i, %i) {transposed = false} : (memref<?x?xf16>, index, index) -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @misspelt(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op unknown attribute 'mask'; legal: form, masked, transposed, vector}}
  %0 = tile.load %m[%i, %i] {mask} : memref<?x?xf16> -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @form_of_a_fragment(%m: !S, %i: index) {
  // expected-error @below {{'tile.load' op form says how a tile with a layout is moved from or to shared memory}}
  %0 = tile.load %m[%i, %i] {form = "none"} : !S -> !A
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
func.func @form_in_global_memory(%m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.load' op form says how a tile with a layout is moved from or to shared memory}}
  %0 = tile.load %m[%i, %i] {form = "none"} : memref<?x?xf16> -> !A
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @form_that_stores(%m: !S, %i: index) {
  // expected-error @below {{'tile.load' op takes a form of ldmatrix; stmatrix.sync.aligned.m8n8.x4.b16 is one of stmatrix}}
  %0 = tile.load %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @form_unknown(%m: !S, %i: index) {
  // expected-error @below {{'tile.load' op unknown ldmatrix form 'ldmatrix'; nearest legal: ldmatrix.sync.aligned.}}
  %0 = tile.load %m[%i, %i] {form = "ldmatrix"} : !S -> !A
  return
}
