// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @unknown(%t: tensor<64xi32>, %m: memref<?xi32>, %o: tensor<64xi32>, %z: index) {
  // expected-error @below {{'tile.atomic_scatter' op unknown atomic op 'arith.muli'; nearest legal: arith.}}
  tile.atomic_scatter arith.muli %t, %m[%z] along [0] by %o : tensor<64xi32>, memref<?xi32> by tensor<64xi32>
  return
}

// -----

func.func @element(%t: tensor<64xi8>, %m: memref<?xi8>, %o: tensor<64xi32>, %z: index) {
  // expected-error @below {{'tile.atomic_scatter' op arith.addi updates elements of type i32, i64, not i8}}
  tile.atomic_scatter arith.addi %t, %m[%z] along [0] by %o : tensor<64xi8>, memref<?xi8> by tensor<64xi32>
  return
}
