// RUN: tile-opt %s | tile-opt | FileCheck %s

!C = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 d f16">>
!S = memref<2x64x64xf16, #tile.shared<"128B">>

// CHECK-LABEL: func.func @halves(
func.func @halves(%c: !C, %d: !D, %m: !S, %i: index) {
  // CHECK: tile.stmatrix %{{.*}}, %{{.*}}[%[[I:.*]], %[[I]], %[[I]]] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !a_16x16xf16, memref<2x64x64xf16, #tile.shared<"128B">>
  tile.stmatrix %c, %m[%i, %i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !C, !S
  // CHECK: transposed {form = "stmatrix.sync.aligned.m8n8.x2.trans.b16"} : !m16n8k16_d_f16_16x8xf16, memref<2x64x64xf16, #tile.shared<"128B">>
  tile.stmatrix %d, %m[%i, %i, %i] transposed {form = "stmatrix.sync.aligned.m8n8.x2.trans.b16"}
      : !D, !S
  // CHECK: {form = "stmatrix.sync.aligned.m8n8.x2.b16"} : !m16n8k16_d_f16_16x8xf16, memref<2x64x64xf16, #tile.shared<"128B">>
  tile.stmatrix %d, %m[%i, %i, %i] {form = "stmatrix.sync.aligned.m8n8.x2.b16"} : !D, !S
  return
}
