// RUN: tile-opt %s | tile-opt | FileCheck %s

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>

// CHECK-LABEL: func.func @lanes(
func.func @lanes(%x: !F, %d: !D, %row: index, %col: index) {
  // CHECK: tile.tcgen05_st %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !{{.*}}, memref<128x64xf32, #{{.*}}>
  tile.tcgen05_st %x, %d[%row, %col] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
  return
}
