// RUN: tile-opt %s --tile-stage-conversions --split-input-file --verify-diagnostics

// Layouts are given before.
!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_layout(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = tile.fill %x : f32 -> tensor<16x8xf32>
    // expected-error @below {{'tile.convert_layout' op takes tiles with layouts here: run tile-assign-layouts first}}
    %r = tile.convert_layout %t : tensor<16x8xf32> -> !T
    gpu.return
  }
}
