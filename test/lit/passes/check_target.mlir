// RUN: tile-opt %s --tile-check-target | FileCheck %s
// RUN: tile-opt %s --tile-check-target=target=sm_90a | FileCheck %s --check-prefix=OPTION

!A = !tile.frag<tensor<16x16xbf16>, #tile.layout<"m16n8k16 a bf16">>
!B = !tile.frag<tensor<16x8xbf16>, #tile.layout<"m16n8k16 b bf16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

// The option takes the place of whatever targets the module names.
// CHECK: gpu.module @bf16 [#nvvm.target<chip = "sm_80">]
// OPTION: gpu.module @bf16 [#nvvm.target<chip = "sm_90a">]
gpu.module @bf16 [#nvvm.target<chip = "sm_80">] {
  // CHECK: tile.mma
  gpu.func @k(%a: !A, %b: !B, %c: !C) {
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}
        : !A, !B, !C
    gpu.return
  }
}

// Forms count, nothing else: no instruction here needs more than the oldest target.
// CHECK: gpu.module @none [#nvvm.target<chip = "sm_70">]
// OPTION: gpu.module @none [#nvvm.target<chip = "sm_90a">]
gpu.module @none [#nvvm.target<chip = "sm_70">] {
  gpu.func @k(%a: !A, %x: f32) {
    %c = tile.fill %x : f32 -> !C
    gpu.return
  }
}
