// RUN: tile-opt %s | tile-opt | FileCheck %s

!D = memref<2x128x64xf32, #tile.tensor<"d">>
!Half = memref<64x64xf16, #tile.tensor<"d">>
!P = memref<128x64xf16, #tile.tensor<"a">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
!H = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!A = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 8">>

// CHECK-LABEL: func.func @lanes(
func.func @lanes(%d: !D, %i: index, %row: index, %col: index) -> !F {
  // CHECK: tile.tcgen05_ld %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : memref<2x128x64xf32, #{{.*}}> -> !{{.*}}
  %x = tile.tcgen05_ld %d[%i, %row, %col] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return %x : !F
}

// Sixteen rows of a quarter of the lanes, two columns of 16 bits in a register: as mma holds C.
// CHECK-LABEL: func.func @halves(
func.func @halves(%d: !Half, %row: index) -> !H {
  %c16 = arith.constant 16 : index
  // CHECK: 16x128b.x2.pack::16b
  %x = tile.tcgen05_ld %d[%row, %c16] {form = "tcgen05.ld.sync.aligned.16x128b.x2.pack::16b.b32"} : !Half -> !H
  return %x : !H
}

// CHECK-LABEL: func.func @packed(
func.func @packed(%p: !P, %row: index, %col: index) -> !A {
  // CHECK: -> !
  %x = tile.tcgen05_ld %p[%row, %col] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !P -> !A
  return %x : !A
}
