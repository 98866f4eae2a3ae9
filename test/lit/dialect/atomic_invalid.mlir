// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @unknown(%t: tensor<8x8xf32>, %g: memref<8x8xf32>, %z: index) {
  // expected-error @below {{'tile.atomic' op unknown atomic op 'arith.mulf'; nearest legal: arith.}}
  tile.atomic arith.mulf %t, %g[%z, %z] : tensor<8x8xf32>, memref<8x8xf32>
  return
}

// -----

func.func @element(%t: tensor<8x8xi8>, %g: memref<8x8xi8>, %z: index) {
  // expected-error @below {{'tile.atomic' op arith.addi updates elements of type i32, i64, not i8}}
  tile.atomic arith.addi %t, %g[%z, %z] : tensor<8x8xi8>, memref<8x8xi8>
  return
}

// -----

func.func @space(%t: tensor<8x8xf32>, %g: memref<8x8xf32, #tile.shared<"none">>, %z: index) {
  // expected-error @below {{'tile.atomic' op updates global memory, or an array in #gpu.address_space<workgroup>, not the shared buffer memref<8x8xf32,}}
  tile.atomic arith.addf %t, %g[%z, %z] : tensor<8x8xf32>, memref<8x8xf32, #tile.shared<"none">>
  return
}

// -----

func.func @memory(%t: tensor<8x8xf32>, %g: memref<8x8xf16>, %z: index) {
  // expected-error @below {{'tile.atomic' op element types differ: f32 in the tile, memref<8x8xf16> in memory}}
  tile.atomic arith.addf %t, %g[%z, %z] : tensor<8x8xf32>, memref<8x8xf16>
  return
}

// -----

func.func @indices(%t: tensor<8x8xf32>, %g: memref<8x8xf32>, %z: index) {
  // expected-error @below {{'tile.atomic' op the access takes 2 indices, one per dimension, not 1}}
  tile.atomic arith.addf %t, %g[%z] : tensor<8x8xf32>, memref<8x8xf32>
  return
}
