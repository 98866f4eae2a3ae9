// RUN: tile-opt %s --tile-to-fragments | FileCheck %s

// Upstream's casts of tensors become casts of the fragments, narrow floats and tf32 included.
#L = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp [8,0] -> row 16, col 32">
gpu.module @m [#nvvm.target<chip = "sm_90">] {
  // CHECK-LABEL: gpu.func @casts(
  gpu.func @casts(%p: memref<16x32xi8>, %q: memref<16x16xi8>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: %[[A:.*]] = tile.load
    %a = tile.load %p[%z, %z] : memref<16x32xi8> -> tensor<16x32xf8E4M3FN, #L>
    // CHECK-NEXT: %[[B:.*]] = tile.cast arith.convertf %[[A]]
    %b = arith.convertf %a : tensor<16x32xf8E4M3FN, #L> to tensor<16x32xf8E5M2, #L>
    // CHECK-NEXT: %[[C:.*]] = tile.cast arith.extf %[[B]]
    %c = arith.extf %b : tensor<16x32xf8E5M2, #L> to tensor<16x32xf32, #L>
    // CHECK-NEXT: %[[D:.*]] = tile.cast arith.truncf %[[C]]
    %d = arith.truncf %c : tensor<16x32xf32, #L> to tensor<16x32xtf32, #L>
    // CHECK-NEXT: %[[E:.*]] = tile.cast arith.truncf %[[D]]
    %e = arith.truncf %d : tensor<16x32xtf32, #L> to tensor<16x32xf4E2M1FN, #L>
    // CHECK: tile.store %[[E]],
    tile.store %e, %q[%z, %z] : tensor<16x32xf4E2M1FN, #L>, memref<16x16xi8>
    // CHECK: %[[F:.*]] = tile.cast arith.extf %{{.*}} : !frag_16x32xbyte_f6E2M3FN_{{.*}} to !frag_16x32xf32_
    %f = tile.load %p[%z, %z] : memref<16x32xi8> -> tensor<16x32x!tile.byte<f6E2M3FN>, #L>
    %g = tile.cast arith.extf %f : tensor<16x32x!tile.byte<f6E2M3FN>, #L> to tensor<16x32xf32, #L>
    // CHECK-NEXT: %[[G:.*]] = tile.cast arith.truncf %[[F]]
    %h = arith.truncf %g : tensor<16x32xf32, #L> to tensor<16x32xf8E5M2, #L>
    tile.store %h, %p[%z, %z] : tensor<16x32xf8E5M2, #L>, memref<16x32xi8>
    gpu.return
  }
}
