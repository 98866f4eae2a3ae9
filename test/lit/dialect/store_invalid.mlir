// RUN: tile-opt %s --split-input-file --verify-diagnostics

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @target(%c: !C, %m: !llvm.ptr, %i: index) {
  // expected-error @below {{'tile.store' op target must be a ranked memref, not !llvm.ptr}}
  tile.store %c, %m[%i, %i] : !C, !llvm.ptr
  return
}

// -----

func.func @value(%c: vector<4xf32>, %m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tile.store' op value must be a tensor with a #tile.layout encoding or a !tile.frag, not vector<4xf32>}}
  tile.store %c, %m[%i, %i] : vector<4xf32>, memref<?x?xf32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @rank(%c: !C, %m: memref<?xf32>, %i: index) {
  // expected-error @below {{'tile.store' op a tile of rank 2 needs a memref of that rank or more}}
  tile.store %c, %m[%i] : !C, memref<?xf32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @indices(%c: !C, %m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tile.store' op the access takes 2 indices, one per dimension, not 3}}
  tile.store %c, %m[%i, %i, %i] : !C, memref<?x?xf32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @element_type(%c: !C, %m: memref<?x?xf16>, %i: index) {
  // expected-error @below {{'tile.store' op element types differ: f32 in the tile, memref<?x?xf16> in memory}}
  tile.store %c, %m[%i, %i] : !C, memref<?x?xf16>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @extents(%c: !C, %m: memref<16x4xf32, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.store' op the tile is larger than the buffer memref<16x4xf32, #tile.shared<"none">>}}
  tile.store %c, %m[%i, %i] : !C, memref<16x4xf32, #tile.shared<"none">>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @masked(%c: !C, %m: memref<16x8xf32, #tile.shared<"none">>, %i: index) {
  // expected-error @below {{'tile.store' op an access to shared memory is not masked}}
  tile.store %c, %m[%i, %i] masked : !C, memref<16x8xf32, #tile.shared<"none">>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @vector(%c: !C, %m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tile.store' op vector must be a power of two, not -2}}
  tile.store %c, %m[%i, %i] {vector = -2} : !C, memref<?x?xf32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @unit(%c: !C, %m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tile.store' op masked is a unit attribute}}
  "tile.store"(%c, %m, %i, %i) {masked = 1 : i1} : (!C, memref<?x?xf32>, index, index) -> ()
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @misspelt(%c: !C, %m: memref<?x?xf32>, %i: index) {
  // expected-error @below {{'tile.store' op unknown attribute 'vectors'; legal: form, masked, transposed, vector}}
  tile.store %c, %m[%i, %i] {vectors = 2} : !C, memref<?x?xf32>
  return
}

// -----

func.func @larger(%x: tensor<64x32xf32>, %g: memref<32x64xf32>, %h: memref<64x16xf32>, %i: index) {
  // expected-error @below {{'tile.store' op a tile of 64x32 is larger than memref<32x64xf32>; take a smaller one, or let the access be masked}}
  tile.store %x, %g[%i, %i] : tensor<64x32xf32>, memref<32x64xf32>
  tile.store %x, %g[%i, %i] transposed : tensor<64x32xf32>, memref<32x64xf32>
  tile.store %x, %h[%i, %i] masked : tensor<64x32xf32>, memref<64x16xf32>
  return
}

// -----

!C = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @form_that_loads(%c: !C, %m: !S, %i: index) {
  // expected-error @below {{'tile.store' op takes a form of stmatrix; ldmatrix.sync.aligned.m8n8.x4.b16 is one of ldmatrix}}
  tile.store %c, %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !C, !S
  return
}
