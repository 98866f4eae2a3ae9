// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-to-fragments,tile-fragments-to-nvvm)' --split-input-file --verify-diagnostics

// Upstream's ops on tensors take more types than there are instructions for.

#L = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  gpu.func @arithmetic(%p: memref<8x32xi8>, %q: memref<8x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.load %p[%z, %z] : memref<8x32xi8> -> tensor<8x32xf8E4M3FN, #L>
    // expected-error @below {{'tile.elementwise' op no arithmetic on f8E4M3FN: cast it first; legal: integers, f64, f32, f16, bf16}}
    %c = arith.addf %s, %s : tensor<8x32xf8E4M3FN, #L>
    tile.store %c, %p[%z, %z] : tensor<8x32xf8E4M3FN, #L>, memref<8x32xi8>
    %t = tile.load %q[%z, %z] : memref<8x32xf32> -> tensor<8x32xtf32, #L>
    // expected-error @below {{'tile.elementwise' op no arithmetic on tf32: cast it first}}
    %d = arith.negf %t : tensor<8x32xtf32, #L>
    tile.store %d, %q[%z, %z] : tensor<8x32xtf32, #L>, memref<8x32xf32>
    gpu.return
  }
}

// -----

#L = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  gpu.func @casts(%p: memref<8x32xi8>, %q: memref<8x32xf64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.load %p[%z, %z] : memref<8x32xi8> -> tensor<8x32xf8E4M3FN, #L>
    // expected-error @below {{'tile.cast' op no conversion from f8E4M3FN to i8: f8E4M3FN is converted from and to other floats of at most 32 bits; go through f32}}
    %i = arith.fptosi %s : tensor<8x32xf8E4M3FN, #L> to tensor<8x32xi8, #L>
    tile.store %i, %p[%z, %z] : tensor<8x32xi8, #L>, memref<8x32xi8>
    // expected-error @below {{'tile.cast' op no conversion from f8E4M3FN to f64}}
    %d = arith.extf %s : tensor<8x32xf8E4M3FN, #L> to tensor<8x32xf64, #L>
    tile.store %d, %q[%z, %z] : tensor<8x32xf64, #L>, memref<8x32xf64>
    gpu.return
  }
}

// -----

#L = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  gpu.func @rounding(%p: memref<8x32xi8>, %q: memref<8x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %s = tile.load %q[%z, %z] : memref<8x32xf32> -> tensor<8x32xf32, #L>
    // expected-error @below {{'tile.cast' op to f8E4M3FN there is one rounding mode: omit roundingmode}}
    %c = arith.truncf %s toward_zero : tensor<8x32xf32, #L> to tensor<8x32xf8E4M3FN, #L>
    tile.store %c, %p[%z, %z] : tensor<8x32xf8E4M3FN, #L>, memref<8x32xi8>
    gpu.return
  }
}
