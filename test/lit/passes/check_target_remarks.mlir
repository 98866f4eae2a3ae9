// RUN: tile-opt %s --tile-check-target --split-input-file --verify-diagnostics
// RUN: tile-opt %s --tile-check-target --split-input-file 2>&1 >/dev/null | FileCheck %s

// What is legal and slow draws a remark, and the program goes on.

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
gpu.module @plain [#nvvm.target<chip = "sm_90">] {
  gpu.func @k(%a: !A, %b: !B, %c: !C, %e: !E) {
    // CHECK: check_target_remarks.mlir:{{[0-9]+}}:10: remark: 'tile.mma_sp' op mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 takes metadata in any order; in order, mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 takes it
    // CHECK-NEXT: tile.mma_sp
    // expected-remark @below {{'tile.mma_sp' op mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 takes metadata in any order; in order, mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 takes it (on sm_100 and later the plain form sorts it first)}}
    %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !E
    %f = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !E
    gpu.return
  }
}

// -----

!A = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>
!B = !tile.frag<tensor<32x8xf8E4M3FN>, #tile.layout<"m16n8k32 b e4m3">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k32 c f32">>
gpu.module @native [#nvvm.target<chip = "sm_89">] {
  gpu.func @k(%a: !A, %b: !B, %c: !C) {
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"}
        : !A, !B, !C
    gpu.return
  }
}
gpu.module @emulated [#nvvm.target<chip = "sm_90">] {
  gpu.func @k(%a: !A, %b: !B, %c: !C) {
    // expected-remark @below {{'tile.mma' op mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 is emulated on sm_90, by 2 HMMA}}
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"}
        : !A, !B, !C
    gpu.return
  }
}

// -----

!A = !tile.frag<tensor<4x8x4xf16>, #tile.layout<"m8n8k4 a f16 row">>
!B = !tile.frag<tensor<4x4x8xf16>, #tile.layout<"m8n8k4 b f16 col">>
!C = !tile.frag<tensor<4x8x8xf32>, #tile.layout<"m8n8k4 c f32">>
gpu.module @scalar [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: !A, %b: !B, %c: !C) {
    // expected-remark @below {{is emulated on sm_80, by scalar FFMA}}
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"} : !A, !B, !C
    gpu.return
  }
}
