// RUN: tile-opt %s --split-input-file | tile-opt --split-input-file | FileCheck %s

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

// -----

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>

// CHECK-LABEL: func.func @lanes(
func.func @lanes(%x: !F, %d: !D, %row: index, %col: index) {
  // CHECK: tile.tcgen05_st %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !{{.*}}, memref<128x64xf32, #{{.*}}>
  tile.tcgen05_st %x, %d[%row, %col] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
  return
}

// -----

!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>

// CHECK-LABEL: func.func @wait(
func.func @wait(%x: !F, %y: !F) -> (!F, !F) {
  // CHECK: %{{.*}}:2 = tile.tcgen05_wait_ld %{{.*}}, %{{.*}} : !{{.*}}, !{{.*}}
  %w:2 = tile.tcgen05_wait_ld %x, %y : !F, !F
  return %w#0, %w#1 : !F, !F
}

// -----

// CHECK-LABEL: func.func @wait(
func.func @wait() {
  // CHECK: tile.tcgen05_wait_st
  tile.tcgen05_wait_st
  return
}

// -----

!Atoms = memref<4x32x16xi8, #tile.shared<"none">>
!Scales = memref<256x4xf8E8M0FNU, #tile.tensor<"scale">>
!Rows = memref<128x64xf16, #tile.shared<"128B">>
!A = memref<128x64xf16, #tile.tensor<"a">>

// CHECK-LABEL: func.func @scales(
func.func @scales(%x: !Atoms, %s: !Scales, %i: index) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  // CHECK: tile.tcgen05_cp %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : memref<4x32x16xi8, #{{.*}}> to memref<256x4xf8E8M0FNU, #{{.*}}>
  tile.tcgen05_cp %x[%i, %c0, %c0] to %s[%c128, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !Atoms to !Scales
  return
}

// CHECK-LABEL: func.func @rows(
func.func @rows(%x: !Rows, %a: !A) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // CHECK: 128x256b
  tile.tcgen05_cp %x[%c0, %c16] to %a[%c0, %c16] {form = "tcgen05.cp.cta_group::1.128x256b"} : !Rows to !A
  return
}

// -----

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @commit(
func.func @commit(%b: !Bars, %i: index, %mask: index) {
  // CHECK: tile.tcgen05_commit %{{.*}}[%{{.*}}] : memref<3xi64, #{{.*}}>
  tile.tcgen05_commit %b[%i] : !Bars
  // CHECK: tile.tcgen05_commit %{{.*}}[%{{.*}}] multicast %{{.*}} {cta_group = 2 : i64} : memref<3xi64, #{{.*}}>
  tile.tcgen05_commit %b[%i] multicast %mask {cta_group = 2} : !Bars
  return
}

// -----

// CHECK-LABEL: func.func @sides(
func.func @sides() {
  // CHECK: tile.tcgen05_fence before
  tile.tcgen05_fence before
  // CHECK: tile.tcgen05_fence after
  tile.tcgen05_fence after
  return
}

// -----

!D = memref<2x128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
!R = !tile.frag<tensor<32x1xf32>, #tile.layout<"register; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 1">>

// CHECK-LABEL: func.func @reduced(
func.func @reduced(%d: !D, %i: index, %row: index, %col: index) -> (!F, !R) {
  // CHECK: %{{.*}}:2 = tile.tcgen05_ld_red %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] {form = "tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.f32"} : memref<2x128x64xf32, #{{.*}}> -> !{{.*}}, !{{.*}}
  %x, %r = tile.tcgen05_ld_red %d[%i, %row, %col] {form = "tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.f32"} : !D -> !F, !R
  return %x, %r : !F, !R
}
