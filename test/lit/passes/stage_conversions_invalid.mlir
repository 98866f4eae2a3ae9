// RUN: tile-opt %s --tile-stage-conversions --split-input-file --verify-diagnostics

!T = tensor<2x8x8xf32, #tile.layout<"register [0,0,1]; lane [0,0,2] [0,0,4] [0,1,0] [0,2,0] [0,4,0]; warp [1,0,0] -> slice 2, row 8, col 8">>
!R = tensor<2x8x8xf32, #tile.layout<"register [1,0,0]; lane [0,0,2] [0,0,4] [0,1,0] [0,2,0] [0,4,0]; warp [0,0,1] -> slice 2, row 8, col 8">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @rank_3(%g: memref<2x8x8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %t = "tile.load"(%g, %z, %z, %z) : (memref<2x8x8xf32>, index, index, index) -> !T
    // expected-error @below {{'tile.convert_layout' op goes through shared memory, which takes tiles of rank 2 whose elements have a byte or more, not 2x8x8xf32}}
    %r = "tile.convert_layout"(%t) : (!T) -> !R
    "tile.store"(%r, %g, %z, %z, %z) : (!R, memref<2x8x8xf32>, index, index, index) -> ()
    gpu.return
  }
}

// -----

!T = tensor<64xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64">>
!R = tensor<64xf32, #tile.layout<"register; lane [32] [2] [4] [8] [16]; warp [1] -> row 64">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @rank_1(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = "tile.fill"(%x) : (f32) -> !T
    // expected-error @below {{'tile.convert_layout' op goes through shared memory, which takes tiles of rank 2 whose elements have a byte or more, not 64xf32}}
    %r = "tile.convert_layout"(%t) : (!T) -> !R
    gpu.return
  }
}

// -----

!T = tensor<32x16xi4, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!R = tensor<32x16xi4, #tile.layout<"register [0,1] [0,2] [16,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 16">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @nibbles(%g: memref<32x8xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %t = "tile.load"(%g, %z, %z) : (memref<32x8xi8>, index, index) -> !T
    // expected-error @below {{'tile.convert_layout' op goes through shared memory, which takes tiles of rank 2 whose elements have a byte or more, not 32x16xi4}}
    %r = "tile.convert_layout"(%t) : (!T) -> !R
    "tile.store"(%r, %g, %z, %z) : (!R, memref<32x8xi8>, index, index) -> ()
    gpu.return
  }
}
