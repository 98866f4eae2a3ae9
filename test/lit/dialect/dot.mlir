// RUN: tile-opt %s | tile-opt | FileCheck %s

// Two warps along M; each holds 16 rows of A, all of B, and two fragments of C.
!A = tensor<32x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 32">>
!B = tensor<32x16xf16, #tile.layout<"register [1,0] [8,0] [16,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 32, col 16">>
!C = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>

// CHECK-LABEL: func.func @two_warps(
func.func @two_warps(%a: !A, %b: !B, %c: !C) -> !C {
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : tensor<32x32xf16, #c_m16n8_32x32_2x1>, tensor<32x16xf16, #layout_32x16_2020>, tensor<32x16xf32, #c_m16n8_32x16_2x1>
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return %d : !C
}

// One fragment of each: a layout without warps is one of a single warp.
!A1 = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B1 = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C1 = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @one_fragment(
func.func @one_fragment(%a: !A1, %b: !B1, %c: !C1) {
  // CHECK: tile.dot %{{.*}} {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A1, !B1, !C1
  return
}
