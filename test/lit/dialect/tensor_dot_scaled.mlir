// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-place-accumulators,tile-allocate-tensor-memory,tile-to-fragments)' | FileCheck %s --check-prefix=FRAG

// Scale factors lie in shared memory in the order of tcgen05.cp: factor j of row r in byte
// 16·(r mod 32) + 4·(r / 32) + j of 512. Each 128 rows and four factors are copied to tensor memory.

!A = memref<2x1x128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<1x256x128xf8E4M3FN, #tile.shared<"128B">>
!SA = memref<2x1x128x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] -> row 128, col 4">>
!SB = memref<1x256x4xi8, #tile.shared<"offset [0,1] [0,2] [32,0] [64,0] [1,0] [2,0] [4,0] [8,0] [16,0] [128,0] -> row 256, col 4">>
!C = tensor<128x256xf32, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16] [0,32] [0,64]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [32,0] [64,0] [0,128] -> row 128, col 256">>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // CHECK-LABEL: gpu.func @product
  // FRAG-LABEL: gpu.func @product
  // FRAG-DAG: tile.tensor_buffer %{{.*}} : {{.*}} memref<1x1x128x4xi8, #tile.tensor<"scale">>
  // FRAG-DAG: tile.tensor_buffer %{{.*}} : {{.*}} memref<1x1x256x4xi8, #tile.tensor<"scale">>
  gpu.func @product(%stage: index, %out: memref<128x256xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %sa = tile.alloc_shared : !SA
    %sb = tile.alloc_shared : !SB
    %zero = arith.constant dense<0.0> : !C
    // CHECK: tile.tensor_dot_scaled %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} scale %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 2>} : memref<2x1x128x128xf8E4M3FN, {{.*}}>, memref<1x256x128xf8E4M3FN, {{.*}}>, tensor<128x256xf32, {{.*}}> scale memref<2x1x128x4xi8, {{.*}}>, memref<1x256x4xi8, {{.*}}>
    // FRAG: nvvm.elect.sync
    // FRAG-COUNT-3: tile.tcgen05_cp {{.*}}32x128b.warpx4
    // FRAG-COUNT-4: tile.tcgen05_mma_scaled
    // FRAG-NOT: tile.tcgen05_mma_scaled
    // FRAG: tile.tcgen05_commit
    %d = tile.tensor_dot_scaled %a[%stage, %c0, %c0, %c0], %b[%c0, %c0, %c0], %zero scale %sa[%stage, %c0, %c0, %c0], %sb[%c0, %c0, %c0] {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3", warps = array<i64: 4, 2>} : !A, !B, !C scale !SA, !SB
    tile.store %d, %out[%c0, %c0] : !C, memref<128x256xf32>
    gpu.return
  }
}
