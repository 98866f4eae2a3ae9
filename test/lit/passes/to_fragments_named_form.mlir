// RUN: tile-opt %s --tile-to-fragments | FileCheck %s

// The load names the instruction that moves its fragments; no product says any more what they are.

#half = #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">
gpu.module @m {
  // CHECK-LABEL: gpu.func @named(
  gpu.func @named(%s: memref<16x32xf16, #tile.shared<"64B">>, %out: memref<16x32xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    // CHECK-COUNT-2: tile.ldmatrix {{.*}}x4.b16
    // CHECK-NOT: tile.ldmatrix
    %t = tile.load %s[%c0, %c0] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : memref<16x32xf16, #tile.shared<"64B">> -> tensor<16x32xf16, #half>
    tile.store %t, %out[%c0, %c0] : tensor<16x32xf16, #half>, memref<16x32xf16>
    gpu.return
  }
}
