// RUN: tile-opt %s --tile-check-divergence --split-input-file --verify-diagnostics

!F = !tile.frag<tensor<32xf32>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>
gpu.module @m {
  gpu.func @lanes(%x: f32, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %f = tile.fill %x : f32 -> !F
    %lane = gpu.lane_id
    %p = arith.cmpi eq, %lane, %i : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'tile.reduce' op is executed by whole warps, but is nested in a 'scf.if' that may send lanes of one warp different ways}}
      %u = tile.reduce arith.maximumf %f axis 0 : !F -> f32
    }
    gpu.return
  }
}

// -----

!T = tensor<64xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64">>
gpu.module @m {
  gpu.func @over_warps(%x: f32, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = tile.fill %x : f32 -> !T
    %warp = gpu.subgroup_id : index
    %p = arith.cmpi eq, %warp, %i : index
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'tile.reduce' op is executed by all warps of a CTA, but is nested in a 'scf.if' that may send them different ways}}
      %u = tile.reduce arith.maximumf %t axis 0 : !T -> f32
      %v = tile.fill %x : f32 -> tensor<64xf32>
      // expected-error @below {{'tile.reduce' op is executed by all warps of a CTA}}
      %w = tile.reduce arith.maximumf %v axis 0 : tensor<64xf32> -> f32
    }
    gpu.return
  }
}

// -----

// A warp's own sum is not that of the CTA.
!T = tensor<64xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64">>
!F = !tile.frag<tensor<32xf32>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>
gpu.module @m {
  gpu.func @of_a_warp(%x: f32, %m: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %at = arith.muli %warp, %c32 : index
    %f = tile.load %m[%at] : memref<64xf32> -> !F
    %t = tile.fill %x : f32 -> !T
    %s = tile.reduce arith.addf %f axis 0 : !F -> f32
    %p = arith.cmpf olt, %s, %x : f32
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'tile.reduce' op is executed by all warps of a CTA}}
      %u = tile.reduce arith.maximumf %t axis 0 : !T -> f32
    }
    gpu.return
  }
}
