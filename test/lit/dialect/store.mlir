// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>

// CHECK-LABEL: func.func @global(
func.func @global(%m: memref<?x?xf32>, %c: !C, %t: !T, %i: index) {
  // CHECK: "tile.store"(%{{.*}}, %{{.*}}, %[[I:.*]], %[[I]]) : (!frag, memref<?x?xf32>, index, index) -> ()
  "tile.store"(%c, %m, %i, %i) : (!C, memref<?x?xf32>, index, index) -> ()
  // CHECK: {masked, transposed, vector = 2 : i64} : (!frag, memref<?x?xf32>, index, index) -> ()
  "tile.store"(%c, %m, %i, %i) {vector = 2, masked, transposed} : (!C, memref<?x?xf32>, index, index) -> ()
  // CHECK: "tile.store"(%{{.*}}) : (tensor<32x8xf32, #layout1>, memref<?x?xf32>, index, index) -> ()
  "tile.store"(%t, %m, %i, %i) : (!T, memref<?x?xf32>, index, index) -> ()
  return
}

// CHECK-LABEL: func.func @shared(
func.func @shared(%m: memref<2x16x32xf32, #tile.shared<"128B">>, %c: !C, %i: index) {
  // CHECK: (!frag, memref<2x16x32xf32, #shared>, index, index, index) -> ()
  "tile.store"(%c, %m, %i, %i, %i) : (!C, memref<2x16x32xf32, #tile.shared<"128B">>, index, index, index) -> ()
  return
}
