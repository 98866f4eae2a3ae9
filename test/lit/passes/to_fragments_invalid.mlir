// RUN: tile-opt %s --tile-to-fragments --split-input-file --verify-diagnostics

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m {
  // expected-error @below {{'gpu.func' op cannot take an argument of type tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>; legal: memrefs in global memory, and scalars}}
  gpu.func @argument(%t: !T) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = arith.addf %t, %t : !T
    gpu.return
  }
}

// -----

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m {
  gpu.func @warps(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{'tile.fill' op the layout of tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">> is of 1 warp, but the kernel has 2}}
    %t = tile.fill %x : f32 -> !T
    gpu.return
  }
}

// -----

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m {
  gpu.func @no_block_size(%x: f32) kernel {
    // expected-error @below {{'tile.fill' op needs the kernel's attribute known_block_size = array<i32: X, Y, Z>}}
    %t = tile.fill %x : f32 -> !T
    gpu.return
  }
}

// -----

!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m {
  gpu.func @part_of_a_warp(%x: f32) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    // expected-error @below {{'tile.fill' op a block of 48 threads is not a whole number of warps}}
    %t = tile.fill %x : f32 -> !T
    gpu.return
  }
}

// -----

// All that cannot be lowered is said, not the first alone.
!T = tensor<4x8xi32, #tile.layout<"register; lane [0,1] [0,2] [0,4] [1,0] [2,0] -> row 4, col 8">>
gpu.module @m {
  gpu.func @ops(%x: i32, %p: i1, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{'arith.constant' op of a tile must be the same number everywhere (a splat)}}
    %c = arith.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]]> : !T
    %t = tile.fill %x : i32 -> !T
    // expected-error @below {{'tensor.extract' op cannot be lowered with a value of type tensor<4x8xi32,}}
    %e = tensor.extract %t[%i, %i] : !T
    // expected-error @below {{'scf.execute_region' op cannot be lowered with a value of type tensor<4x8xi32,}}
    %r = scf.execute_region -> !T {
      scf.yield %t : !T
    }
    gpu.return
  }
}

// -----

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!R = tensor<32x8xf32, #tile.layout<"register [0,1] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 8">>
gpu.module @m {
  gpu.func @between_warps(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = tile.fill %x : f32 -> !T
    // expected-error @below {{'tile.convert_layout' op moves elements between warps: run tile-stage-conversions first}}
    %r = tile.convert_layout %t : !T -> !R
    gpu.return
  }
}

// -----

// Blocks that branch to each other carry no tiles.
!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @m {
  gpu.func @branches(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = tile.fill %x : f32 -> !T
    // expected-error @below {{'cf.br' op cannot be lowered with a value of type tensor<16x8xf32,}}
    cf.br ^bb1(%t : !T)
  ^bb1(%u: !T):
    gpu.return
  }
}

// -----

// Who holds what is settled before.
gpu.module @m {
  gpu.func @no_layout(%x: f32, %g: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    // expected-error @below {{'tile.fill' op tensor<16x8xf32> has no #tile.layout: run tile-assign-layouts first}}
    %t = tile.fill %x : f32 -> tensor<16x8xf32>
    // expected-error @below {{'arith.addf' op tensor<16x8xf32> has no #tile.layout}}
    %u = arith.addf %t, %t : tensor<16x8xf32>
    // expected-error @below {{'tile.store' op tensor<16x8xf32> has no #tile.layout}}
    tile.store %u, %g[%z, %z] : tensor<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}

// -----

!T = tensor<8x16xf32, #tile.layout<"register [1,0]; lane [0,1] [0,2] [0,4] [2,0] [4,0]; warp [1,8] -> row 8, col 16">>
gpu.module @m {
  gpu.func @registers_and_warps(%g: memref<8x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    // expected-error @below {{'tile.load' op addresses memory by the layout 'register [1,0]; lane [0,1] [0,2] [0,4] [2,0] [4,0]; warp [1,8] -> row 8, col 16', two of whose inputs set the same bit of a row or column}}
    %t = tile.load %g[%z, %z] : memref<8x16xf32> -> !T
    gpu.return
  }
}

// -----

!H = tensor<32x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!S = memref<32x64xf16, #tile.shared<"128B">>
gpu.module @older [#nvvm.target<chip = "sm_80">] {
  gpu.func @another_form(%i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    // expected-error @below {{'tile.load' op cannot move 'register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16' by ldmatrix.sync.aligned.m8n8.x4.trans.b16; legal: ldmatrix.sync.aligned.m8n8.x4.b16, none}}
    %t = tile.load %s[%z, %z] {form = "ldmatrix.sync.aligned.m8n8.x4.trans.b16"} : !S -> !H
    // expected-error @below {{by ldmatrix.sync.aligned.m8n8.x4.b16; legal: none}}
    %u = tile.load %s[%z, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !H
    gpu.return
  }
}
