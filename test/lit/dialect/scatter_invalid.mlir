// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @shape(%t: tensor<8x32xf32>, %m: memref<?x?xf32>, %o: tensor<32x8xi32>, %z: index) {
  // expected-error @below {{'tile.scatter' op what lies along dimension 1 has an element for each of the tile's: 8x32xi32 or i64, not tensor<32x8xi32>}}
  tile.scatter %t, %m[%z, %z] along [1] by %o : tensor<8x32xf32>, memref<?x?xf32> by tensor<32x8xi32>
  return
}

// -----

func.func @element(%t: tensor<8x32xf32>, %m: memref<?x?xi32>, %p: tensor<8x32xi1>, %z: index) {
  // expected-error @below {{'tile.scatter' op element types differ: f32 in the tile, memref<?x?xi32> in memory}}
  tile.scatter %t, %m[%z, %z] where %p : tensor<8x32xf32>, memref<?x?xi32> where tensor<8x32xi1>
  return
}
