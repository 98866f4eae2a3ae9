// RUN: tile-opt %s --split-input-file --verify-diagnostics

!M = memref<?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @rank(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{array must have rank 2 to 5, not 1}}
  "tile.tma_load"(%m, %s, %b, %i, %i, %i, %i, %i) {shape = array<i64: 64, 64>} : (!M, !S, !Bars, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<2x64x64xf16, #tile.shared<"128B">>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @source_in_shared(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{array must be in global memory, not}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @indices(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the copy takes 7 indices, one per dimension, not 6}}
  "tile.tma_load"(%m, %s, %b, %i, %i, %i, %i, %i, %i) {shape = array<i64: 64, 64>} : (!M, !S, !Bars, index, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @shape(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{shape must be array<i64: ROWS, COLUMNS>, not}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @too_many_rows(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box has 1 to 256 rows, not 512}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [512, 64]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @line(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{rows of a box are multiples of 16 bytes; these are of 8}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 4] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @part_of_rows(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box of 64x32 does not fill rows of the buffer's 64x64; it has 64 columns, and at most 64 rows}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 32]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"64B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @swizzle(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{rows of 128 bytes are not a line of swizzle 64B, which is 64 bytes}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"swizzle<3,4,4>">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @swizzle_of_its_own(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the buffer has swizzle "swizzle<3,4,4>"; tensor maps have none, 32B, 64B, 128B}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xbf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @element_types(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{element types differ: f16 and bf16}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi32, #tile.shared<"none">>
func.func @barriers(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{barriers are memref<…xi64, #tile.shared<"none">> of rank 1, not}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @two_masks(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the copy takes 7 indices, one per dimension, not 9}}
  "tile.tma_load"(%m, %s, %b, %i, %i, %i, %i, %i, %i, %i, %i, %i) {shape = array<i64: 64, 64>} : (!M, !S, !Bars, index, index, index, index, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @strides_of_two(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{element_strides must be array<i64: …> of 3, one per dimension of the array, not}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64] {element_strides = array<i64: 1, 2>} : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @stride_of_nine(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{element_strides are 1 to 8; dimension 1 has 9}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64] {element_strides = array<i64: 1, 9, 1>} : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @columns_apart(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{element_strides of the last dimension, whose elements are copied in rows, is 1, not 2}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64] {element_strides = array<i64: 1, 1, 2>} : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @box_of_strides(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{element_strides [1, 8, 1] make a box of 505 elements along dimension 1; a box has 1 to 256}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64] {element_strides = array<i64: 1, 8, 1>} : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @pixels_of_a_matrix(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{im2col takes an array of rank 3 to 5, images by pixels by channels, not 2}}
  tile.tma_load %m[%i, %i] to %s[%i, %i, %i] signal %b[%i] im2col [] to [] offsets [] shape [64, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @one_corner(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{im2col takes both corners, lower and upper; given is lower only}}
  "tile.tma_load"(%m, %s, %b, %i, %i, %i, %i, %i, %i, %i, %i) {shape = array<i64: 64, 64>, lower = array<i64: 0>} : (!M, !S, !Bars, index, index, index, index, index, index, index, index) -> ()
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @corner_of_two(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{lower must be array<i64: …> of 1, one per dimension of the pixels, not}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] im2col [0, 0] to [0, 0] offsets [%i] shape [64, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @corner(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{lower of an array of rank 4 is -128 to 127 along each dimension of the pixels, not -129}}
  tile.tma_load %m[%i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] im2col [-129, 0] to [0, 0] offsets [%i, %i] shape [64, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @offsets(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{the copy takes 10 indices, one per dimension, not 9}}
  tile.tma_load %m[%i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] im2col [0, 0] to [0, 0] offsets [%i] shape [64, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @pixels(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{im2col copies 1 to 1024 pixels, not 1025}}
  tile.tma_load %m[%i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] im2col [0, 0] to [0, 0] offsets [%i, %i] shape [1025, 64] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @channels(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{a box has 1 to 256 columns, not 512}}
  tile.tma_load %m[%i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] im2col [0, 0] to [0, 0] offsets [%i, %i] shape [64, 512] : !M to !S signal !Bars
  return
}

// -----

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
func.func @group(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // expected-error @below {{cta_group is 1 or 2, not 4}}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      {cta_group = 4 : i64} : !M to !S signal !Bars
  return
}
