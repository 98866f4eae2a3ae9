// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @indices(%m: memref<?x?xf16>, %z: index) {
  // expected-error @below {{'tile.gather' op the access takes 2 indices, one per dimension, not 1}}
  %0 = tile.gather %m[%z] : memref<?x?xf16> -> tensor<8x32xf16>
  return
}

// -----

func.func @along(%m: memref<?x?xf16>, %o: tensor<8x32xi32>, %z: index) {
  // expected-error @below {{'tile.gather' op along names dimensions of the memory from 0 to 1, each once and in order, not [2]}}
  %0 = tile.gather %m[%z, %z] along [2] by %o : memref<?x?xf16> by tensor<8x32xi32> -> tensor<8x32xf16>
  return
}

// -----

func.func @order(%m: memref<?x?xf16>, %o: tensor<8x32xi32>, %z: index) {
  // expected-error @below {{'tile.gather' op along names dimensions of the memory from 0 to 1, each once and in order, not [1, 0]}}
  %0 = tile.gather %m[%z, %z] along [1, 0] by %o, %o : memref<?x?xf16> by tensor<8x32xi32>, tensor<8x32xi32> -> tensor<8x32xf16>
  return
}

// -----

func.func @count(%m: memref<?x?xf16>, %o: tensor<8x32xi32>, %z: index) {
  // expected-error @below {{'tile.gather' op along names 2 dimensions for 1 tile of offsets}}
  %0 = tile.gather %m[%z, %z] along [0, 1] by %o : memref<?x?xf16> by tensor<8x32xi32> -> tensor<8x32xf16>
  return
}

// -----

func.func @shape(%m: memref<?x?xf16>, %o: tensor<8xi32>, %z: index) {
  // expected-error @below {{'tile.gather' op what lies along dimension 0 has an element for each of the tile's: 8x32xi32 or i64, not tensor<8xi32>}}
  %0 = tile.gather %m[%z, %z] along [0] by %o : memref<?x?xf16> by tensor<8xi32> -> tensor<8x32xf16>
  return
}

// -----

func.func @offsets(%m: memref<?x?xf16>, %o: tensor<8x32xf32>, %z: index) {
  // expected-error @below {{'tile.gather' op what lies along dimension 0 has an element for each of the tile's: 8x32xi32 or i64, not tensor<8x32xf32>}}
  %0 = tile.gather %m[%z, %z] along [0] by %o : memref<?x?xf16> by tensor<8x32xf32> -> tensor<8x32xf16>
  return
}

// -----

func.func @condition(%m: memref<?x?xf16>, %p: tensor<8x32xi8>, %z: index) {
  // expected-error @below {{'tile.gather' op the condition has an element for each of the tile's: 8x32xi1, not tensor<8x32xi8>}}
  %0 = tile.gather %m[%z, %z] where %p : memref<?x?xf16> where tensor<8x32xi8> -> tensor<8x32xf16>
  return
}

// -----

func.func @conditions(%m: memref<?x?xf16>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.gather' op takes at most one condition}}
  %0 = tile.gather %m[%z, %z] where %p, %p : memref<?x?xf16> where tensor<8x32xi1>, tensor<8x32xi1> -> tensor<8x32xf16>
  return
}

// -----

!T = tensor<8x32xf16, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">>
!P = tensor<8x32xi1, #tile.layout<"register [1,0] [2,0] [4,0]; lane [0,1] [0,2] [0,4] [0,8] [0,16]; warp -> row 8, col 32">>

func.func @layout(%m: memref<?x?xf16>, %p: !P, %z: index) {
  // expected-error @below {{'tile.gather' op the condition has the tile's layout 'register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32', not 'register [1,0] [2,0] [4,0]; lane [0,1] [0,2] [0,4] [0,8] [0,16]; warp -> row 8, col 32': convert it first}}
  %0 = tile.gather %m[%z, %z] where %p : memref<?x?xf16> where !P -> !T
  return
}

// -----

!T = tensor<8x32xf16, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">>

func.func @levels(%m: memref<?x?xf16>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.gather' op takes tiles that either all have a layout or all have none, unlike tensor<8x32xi1>}}
  %0 = tile.gather %m[%z, %z] where %p : memref<?x?xf16> where tensor<8x32xi1> -> !T
  return
}

// -----

func.func @space(%m: memref<8x32xf16, #tile.shared<"none">>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.gather' op moves tiles from and to global memory, or an array in #gpu.address_space<workgroup>, not the shared buffer memref<8x32xf16,}}
  %0 = tile.gather %m[%z, %z] where %p : memref<8x32xf16, #tile.shared<"none">> where tensor<8x32xi1> -> tensor<8x32xf16>
  return
}

// -----

func.func @element(%m: memref<?x?xf32>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.gather' op element types differ: f16 in the tile, memref<?x?xf32> in memory; f16 is f16 there}}
  %0 = tile.gather %m[%z, %z] where %p : memref<?x?xf32> where tensor<8x32xi1> -> tensor<8x32xf16>
  return
}

// -----

func.func @narrow(%m: memref<?x?xi8>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.gather' op elements of i4 share a byte of memory; gather them as i8 and unpack them}}
  %0 = tile.gather %m[%z, %z] where %p : memref<?x?xi8> where tensor<8x32xi1> -> tensor<8x32xi4>
  return
}

// -----

func.func @rank(%m: memref<?xf16>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.gather' op a tile of rank 2 needs a memref of that rank or more}}
  %0 = tile.gather %m[%z] where %p : memref<?xf16> where tensor<8x32xi1> -> tensor<8x32xf16>
  return
}

// -----

func.func @vector(%m: memref<?x?xf16>, %z: index) {
  // expected-error @below {{'tile.gather' op vector must be a power of two, not 3}}
  %0 = tile.gather %m[%z, %z] {vector = 3 : i64} : memref<?x?xf16> -> tensor<8x32xf16>
  return
}

// -----

func.func @sizes(%m: memref<?x?xf16>, %z: index) {
  // expected-error @below {{operand}}
  %0 = "tile.gather"(%m, %z, %z) : (memref<?x?xf16>, index, index) -> tensor<8x32xf16>
  return
}

// -----

func.func @groups(%m: memref<?x?xf16>, %z: index) {
  // expected-error @below {{operand}}
  %0 = "tile.gather"(%m, %z, %z) {operandSegmentSizes = array<i32: 1, 2>} : (memref<?x?xf16>, index, index) -> tensor<8x32xf16>
  return
}
