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
  // expected-error @below {{moves one column in a register; 16-bit elements with one column each need .pack::16b, others do not}}
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
  // expected-error @below {{16x32bx2.x4.b32 moves of memref<128x64xf32, #tile.tensor<"d">> is !tile.frag<tensor<16x8xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [0,4] -> row 16, col 8">>, not}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.16x32bx2.x4.b32"} : !D -> !F
  return
}

// -----

!S = memref<128x4xi8, #tile.tensor<"scale">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @scales(%d: !S, %i: index) {
  // expected-error @below {{scale factors are copied by tile.tcgen05_cp, not loaded as fragments}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !S -> !F
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @count(%x: !F, %d: !D, %i: index) {
  // expected-error @below {{what tcgen05.st.sync.aligned.32x32b.x8.b32 moves of memref<128x64xf32, #tile.tensor<"d">> is !tile.frag<tensor<32x8xf32>}}
  tile.tcgen05_st %x, %d[%i, %i] {form = "tcgen05.st.sync.aligned.32x32b.x8.b32"} : !F, !D
  return
}

// -----

!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @space(%x: !F, %d: memref<128x64xf32>, %i: index) {
  // expected-error @below {{buffer is a memref in #tile.tensor<"…">, not memref<128x64xf32>}}
  tile.tcgen05_st %x, %d[%i, %i] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x64xf32>
  return
}

// -----

!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @results(%x: !F) {
  // expected-error @below {{returns each fragment with its type: 1 of them, not ()}}
  "tile.tcgen05_wait_ld"(%x) : (!F) -> ()
  return
}

// -----

func.func @scalar(%x: f32) {
  // expected-error @below {{operand 0 must be a !tile.frag, not f32}}
  %y = "tile.tcgen05_wait_ld"(%x) : (f32) -> f32
  return
}

// -----

func.func @attribute() {
  // expected-error @below {{unknown attribute 'pending'}}
  tile.tcgen05_wait_st {pending = 1}
  return
}

// -----

!Atoms = memref<32x16xi8, #tile.shared<"none">>
!Scales = memref<256x4xi8, #tile.tensor<"scale">>
func.func @row(%x: !Atoms, %s: !Scales, %i: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{goes to a row that is a constant multiple of 128, below 256}}
  tile.tcgen05_cp %x[%i, %i] to %s[%c64, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Atoms to !Scales
  return
}

// -----

!Short = memref<16x16xi8, #tile.shared<"none">>
!Scales = memref<128x4xi8, #tile.tensor<"scale">>
func.func @rows(%x: !Short, %s: !Scales) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{operand source of tcgen05.cp.cta_group::1.32x128b.warpx4 has 32 rows, more than the 16 rows of the memref's matrices}}
  tile.tcgen05_cp %x[%c0, %c0] to %s[%c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Short to !Scales
  return
}

// -----

!Words = memref<3xi32, #tile.shared<"none">>
func.func @barriers(%b: !Words, %i: index) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.tcgen05_commit %b[%i] : !Words
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @masks(%b: !Bars, %i: index) {
  // expected-error @below {{takes one mask, not 2}}
  "tile.tcgen05_commit"(%b, %i, %i, %i) : (!Bars, index, index, index) -> ()
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>
func.func @group(%b: !Bars, %i: index) {
  // expected-error @below {{cta_group is 1 or 2, not 3}}
  tile.tcgen05_commit %b[%i] {cta_group = 3} : !Bars
  return
}

// -----

func.func @side() {
  // expected-error @below {{'tile.tcgen05_fence' op orders before or after, not between}}
  tile.tcgen05_fence between
  return
}

// -----

// Of 128 rows of a pair each CTA has 64, and columns 64 to 127 in the other half of its lanes.
!D = memref<128x128xf32, #tile.tensor<"d cta_group::2">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @banks(%d: !D, %i: index) {
  %c62 = arith.constant 62 : index
  // expected-error @below {{takes columns 62 to 65, of which 64 are in separate lanes; legal: columns in the same lanes}}
  %x = tile.tcgen05_ld %d[%i, %c62] {form = "tcgen05.ld.sync.aligned.32x32b.x4.b32"} : !D -> !F
  return
}

// -----

!D = memref<2x128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @matrix(%d: !D, %i: index, %x: !F) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{'tile.tcgen05_st' op takes matrix 2 of a buffer of 2}}
  tile.tcgen05_st %x, %d[%c2, %i, %i] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
  return
}

// -----

!Atoms = memref<32x16xi8, #tile.shared<"none">>
!Scales = memref<3x128x4xi8, #tile.tensor<"scale">>
func.func @matrix(%x: !Atoms, %s: !Scales) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-error @below {{'tile.tcgen05_cp' op takes matrix 3 of a buffer of 3}}
  tile.tcgen05_cp %x[%c0, %c0] to %s[%c3, %c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Atoms to !Scales
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @reduced(%d: !D, %row: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{each row is reduced to one element of !tile.frag<tensor<32x1xf32>, #tile.layout<"register; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 1">>, not}}
  %x, %r = tile.tcgen05_ld_red %d[%row, %c0] {form = "tcgen05.ld.red.sync.aligned.32x32b.x4.max.f32"} : !D -> !F, !F
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
!R = !tile.frag<tensor<32x1xf32>, #tile.layout<"register; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 1">>
func.func @integers(%d: !D, %row: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{tcgen05.ld.red.sync.aligned.32x32b.x4.max.s32 reduces an accumulator of i32, not memref<128x64xf32}}
  %x, %r = tile.tcgen05_ld_red %d[%row, %c0] {form = "tcgen05.ld.red.sync.aligned.32x32b.x4.max.s32"} : !D -> !F, !R
  return
}

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!C = !tile.frag<tensor<32x16xf32>, #tile.layout<"register [0,1] [8,0] [0,8] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 32, col 16">>
func.func @instead(%d: !D, %i: index) {
  // expected-error @below {{; 2 of tcgen05.ld.sync.aligned.16x256b.x2.b32 move that}}
  %x = tile.tcgen05_ld %d[%i, %i] {form = "tcgen05.ld.sync.aligned.32x32b.x16.b32"} : !D -> !C
  return
}
