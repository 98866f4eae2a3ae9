// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @element(%a: tensor<1xf32>, %m: memref<?xf32>, %z: index) {
  // expected-error @below {{'tile.atomic_cas' op compares elements of type i16, i32, i64, not f32; take the bits of floats}}
  %0 = tile.atomic_cas %a, %a, %m[%z] : tensor<1xf32>, memref<?xf32>
  return
}

// -----

func.func @types(%a: tensor<1xi32>, %b: tensor<2xi32>, %m: memref<?xi32>, %z: index) {
  // expected-error @below {{'tile.atomic_cas' op compares and stores tiles of one type, not tensor<2xi32> and tensor<1xi32>}}
  %0 = "tile.atomic_cas"(%b, %m, %a, %z) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>} : (tensor<2xi32>, memref<?xi32>, tensor<1xi32>, index) -> tensor<1xi32>
  return
}
