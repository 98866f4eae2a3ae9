// RUN: tile-opt %s | tile-opt | FileCheck %s

// m16n8 stores an accumulator of bytes by columns: memory holds the transpose.

#D = #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">
#D4 = #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">
!S = memref<32x32xi8, #tile.shared<"32B">>

// CHECK-LABEL: func.func @bytes(
func.func @bytes(%d: !tile.frag<tensor<16x8xi8>, #D>, %e: !tile.frag<tensor<16x32xf8E5M2>, #D4>, %m: !S, %i: index) {
  // CHECK: tile.stmatrix %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] transposed {form = "stmatrix.sync.aligned.m16n8.x1.trans.b8"} : !c_16x8xi8, memref<32x32xi8, #tile.shared<"32B">>
  tile.stmatrix %d, %m[%i, %i] transposed {form = "stmatrix.sync.aligned.m16n8.x1.trans.b8"}
      : !tile.frag<tensor<16x8xi8>, #D>, !S
  // CHECK: tile.stmatrix %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] transposed {form = "stmatrix.sync.aligned.m16n8.x4.trans.b8"} : !frag_16x32xf8E5M2_832f, memref<32x32xi8, #tile.shared<"32B">>
  tile.stmatrix %e, %m[%i, %i] transposed {form = "stmatrix.sync.aligned.m16n8.x4.trans.b8"}
      : !tile.frag<tensor<16x32xf8E5M2>, #D4>, !S
  return
}
