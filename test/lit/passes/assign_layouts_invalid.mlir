// RUN: tile-opt %s --tile-assign-layouts --split-input-file --verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_grid(%x: f16, %s: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : f16 -> tensor<16x16xf16>
    %c = tile.fill %s : f32 -> tensor<16x16xf32>
    // expected-error @below {{'tile.dot' op takes an attribute form, the instruction's mnemonic, or no layouts}}
    %d = tile.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    // expected-error @below {{'tile.dot' op takes an attribute warps, as tile-select-mma leaves it}}
    %e = tile.dot %a, %a, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    gpu.return
  }
}

// -----

#C = #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
#L = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp [16,0] -> row 32, col 16">
#one_warp = #tile.layout<"register [0,1] [0,2] [0,4] [16,0]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 32, col 16">
#small = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16">
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @pins(%g: memref<32x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %x = tile.load %g[%z, %z] {tile.layout = #C} : memref<32x16xf32> -> tensor<32x16xf32>
    // expected-error @below {{'math.sqrt' op pins 'register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp [16,0] -> row 32, col 16', but the tile is joined with one pinned to 'register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16'; put a tile.convert_layout between them}}
    %y = math.sqrt %x {tile.layout = #L} : tensor<32x16xf32>
    // expected-error @below {{'tile.load' op pins a layout of 1 warp; the kernel has 2}}
    %w = tile.load %g[%z, %z] {tile.layout = #one_warp} : memref<32x16xf32> -> tensor<32x16xf32>
    // expected-error @below {{'tile.load' op layout 'register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16' is of a 16x16 tile, not of tensor<32x16xf32}}
    %v = tile.load %g[%z, %z] {tile.layout = #small} : memref<32x16xf32> -> tensor<32x16xf32>
    // expected-error @below {{'tile.load' op tile.layout must be a #tile.layout, on an op whose result is one tile}}
    %u = tile.load %g[%z, %z] {tile.layout = "rows"} : memref<32x16xf32> -> tensor<32x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @constant(%g: memref<2x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    // expected-error @below {{'arith.constant' op of a tile must be the same number everywhere (a splat)}}
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @shape(%g: memref<3x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{'arith.constant' op extents of a tile are powers of two, or a few units of a power of two: 130x16 is 65x1 units of 2x16}}
    %c = arith.constant dense<1.0> : tensor<130x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @resource() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-error @below {{'arith.constant' op of a tile must be the same number everywhere (a splat)}}
    %c = arith.constant dense_resource<numbers> : tensor<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{'gpu.func' op cannot take an argument of type tensor<16xf32>; legal: memrefs in global memory, and scalars}}
  gpu.func @argument_that_is_only_stored(%t: tensor<16xf32>, %g: memref<16xf32>, %z: index) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    tile.store %t, %g[%z] : tensor<16xf32>, memref<16xf32>
    gpu.return
  }
}
