// RUN: tilec %s -o - | FileCheck %s

// A product that is found dead when the load of its operand has got its instruction: the tile is stored, too.
// CHECK: ldmatrix.sync.aligned.m8n8.x4
gpu.module @m [#nvvm.target<chip = "sm_75">] {
  gpu.func @k(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %out: memref<64x64xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%sum = %zero) -> (tensor<16x16xf32>) {
      %x = tile.load %a[%c0, %k] : memref<64x64xf16> -> tensor<16x32xf16>
      %y = tile.load %b[%k, %c0] : memref<64x64xf16> -> tensor<32x16xf16>
      %d = tile.dot %x, %y, %sum : tensor<16x32xf16>, tensor<32x16xf16>, tensor<16x16xf32>
      tile.store %x, %out[%c0, %c0] : tensor<16x32xf16>, memref<64x64xf16>
      scf.yield %d : tensor<16x16xf32>
    } {tile.unroll = 2 : i64}
    gpu.return
  }
}
