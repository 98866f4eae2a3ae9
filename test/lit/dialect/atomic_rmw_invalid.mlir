// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @unknown(%t: tensor<64xi32>, %m: memref<?xi32>, %z: index) {
  // expected-error @below {{'tile.atomic_rmw' op unknown atomic op 'arith.muli'; nearest legal: arith.}}
  %0 = tile.atomic_rmw arith.muli %t, %m[%z] : tensor<64xi32>, memref<?xi32>
  return
}

// -----

func.func @element(%t: tensor<64xi8>, %m: memref<?xi8>, %z: index) {
  // expected-error @below {{'tile.atomic_rmw' op exchange updates elements of type i32, i64, f32, f64, not i8}}
  %0 = tile.atomic_rmw exchange %t, %m[%z] : tensor<64xi8>, memref<?xi8>
  return
}

// -----

func.func @order(%t: tensor<64xi32>, %m: memref<?xi32>, %z: index) {
  // expected-error @below {{'tile.atomic_rmw' op unknown order 'aquire'; legal: relaxed, acquire, release, acq_rel}}
  %0 = tile.atomic_rmw exchange %t, %m[%z] {order = "aquire"} : tensor<64xi32>, memref<?xi32>
  return
}

// -----

func.func @scope(%t: tensor<64xi32>, %m: memref<?xi32>, %z: index) {
  // expected-error @below {{'tile.atomic_rmw' op unknown scope 'system'; legal: cta, gpu, sys}}
  %0 = tile.atomic_rmw exchange %t, %m[%z] {scope = "system"} : tensor<64xi32>, memref<?xi32>
  return
}
