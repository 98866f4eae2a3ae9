// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-split-tiles)' --split-input-file --verify-diagnostics

#L = #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 16, col 8">

// What is not known to work unit by unit.
gpu.module @m {
  gpu.func @unknown(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = tile.fill %x : f32 -> tensor<16x24xf32, #L>
    // expected-error @below {{'builtin.unrealized_conversion_cast' op does not take tiles of several units, such as tensor<16x24xf32}}
    %u = builtin.unrealized_conversion_cast %t : tensor<16x24xf32, #L> to i32
    gpu.return
  }
}

// -----

#P = #tile.layout<"register [0,1]; lane [1,0] [2,0] [4,0] [0,0] [0,0]; warp [0,0] -> row 8, col 2">

// Two elements share a byte, which holds one of a unit.
gpu.module @m {
  gpu.func @bytes(%a: memref<?x?xi8>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = tile.load %a[%i, %i] masked : memref<?x?xi8> -> tensor<8x6xi4, #P>
    gpu.return
  }
}

// -----

// Into the matrix after, at a column that is not known.
#M = #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 16, col 8">
gpu.module @m {
  gpu.func @after(%x: f32, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : memref<4x16x16xf32, #tile.shared<"none">>
    %t = tile.fill %x : f32 -> tensor<16x24xf32, #M>
    // expected-error @below {{'tile.store' op continues in the next matrix of the buffer: its column must be a constant}}
    tile.store %t, %s[%z, %z, %i] : tensor<16x24xf32, #M>, memref<4x16x16xf32, #tile.shared<"none">>
    gpu.return
  }
}
