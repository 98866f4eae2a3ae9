// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @rank(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{array must have rank 2, rows by columns, not 3}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @vector(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{array must have rank 2, rows by columns, not 1}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @eight_rows(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{shape must be array<i64: 4, COLUMNS>, with a number for each row, not array<i64: 8, 64>}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [8, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @columns(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box of 4x32 does not fill rows of the buffer}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 32] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @wide(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box has 1 to 256 columns, not 512}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 512] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @small_buffer(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{does not fill rows of the buffer's 2x64}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i] signal %b[%i] shape [4, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @too_few(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the copy takes 9 indices, one per dimension, not 8}}
  "tile.tma_gather"(%m, %s, %b, %i, %i, %i, %i, %i, %i, %i, %i) {shape = array<i64: 4, 64>} : (!M, !S, !Bars, index, index, index, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @numbers_of_32_bits(%m: !M, %s: !S, %b: !Bars, %i: index, %n: i32) {
  // expected-error @below {{the copy takes indices of type index}}
  "tile.tma_gather"(%m, %s, %b, %n, %i, %i, %i, %i, %i, %i, %i, %i) {shape = array<i64: 4, 64>} : (!M, !S, !Bars, i32, index, index, index, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?xf32>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @types(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{element types differ: f32 and f16}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @element_strides(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{unknown attribute 'element_strides'}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 64] {element_strides = array<i64: 2, 1>} : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi32, #tile.shared<"none">>
func.func @barriers(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{barriers are memref<…xi64}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<64x64xf16, #tile.shared<"128B">>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @source_in_shared(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{array must be in global memory}}
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [4, 64] : !M to !S signal !Bars
  return
}
