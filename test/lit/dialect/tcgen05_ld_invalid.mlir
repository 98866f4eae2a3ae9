// RUN: tile-opt %s --split-input-file --verify-diagnostics

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,2] [0,1]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @layout(%d: !D, %i: index) {
  // expected-error @below {{what tcgen05.ld.sync.aligned.32x32b.x4.b32 moves of memref<128x64xf32, #tile.tensor<"d">> is !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>, not}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<64x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @half_of_the_lanes(%d: !D, %i: index) {
  // expected-error @below {{tcgen05.ld.sync.aligned.32x32b.x4.b32 reaches 32 lanes of 4 columns, not all of which are of 64x64 there}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<128x64xf16, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @two_in_a_register(%d: !D, %i: index) {
  // expected-error @below {{moves one column in a register; elements of 16 bits that have a column each want .pack::16b, others do not}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @place(%d: !D, %i: index) {
  %c62 = arith.constant 62 : index
  // expected-error @below {{takes columns 62 to 65 of a matrix of 64}}
  %x = tile.tcgen05_ld %d[%i, %c62] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @row(%d: !D, %i: index) {
  %c8 = arith.constant 8 : index
  // expected-error @below {{rows start at multiples of 32, not at 8}}
  %x = tile.tcgen05_ld %d[%c8, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @family(%d: !D, %i: index) {
  // expected-error @below {{takes a form of tcgen05.ld; tcgen05.st.sync.aligned.32x32b.x4.b32 is one of tcgen05.st}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @apart(%d: !D, %i: index) {
  // expected-error @below {{tcgen05.ld.sync.aligned.16x32bx2.x4.b32 reaches columns apart, which no fragment has}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.16x32bx2.x4.b32"} : !D -> !F
  return
}

// -----

!S = memref<128x4xi8, #tile.tensor<"scale">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @scales(%d: !S, %i: index) {
  // expected-error @below {{scale factors come by tile.tcgen05_cp, not in fragments}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !S -> !F
  return
}
