// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-place-accumulators,tile-allocate-tensor-memory,tile-to-fragments)' | FileCheck %s --check-prefix=FRAG

// Products of tiles whose sums lie in tensor memory, and the tiles that come from there.

!A = memref<2x1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = memref<1x1x128x128xf32, #tile.tensor<"d">>
!Low = memref<1x1x64x32xf32, #tile.tensor<"d">>
!C = tensor<128x128xf32, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16] [0,32]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [32,0] [64,0] [0,64] -> row 128, col 128">>
!Left = tensor<128x64xf16, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16]; lane [1,0] [2,0] [4,0] [8,0] [16,0]; warp [32,0] [64,0] [0,32] -> row 128, col 64">>
!Half = tensor<64x32xf32, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [0,16] -> row 64, col 32">>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // CHECK-LABEL: gpu.func @product
  // FRAG-LABEL: gpu.func @product
  gpu.func @product(%stage: index, %out: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %zero = arith.constant dense<0.0> : !C
    // CHECK: tile.tensor_dot %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 2>} : memref<2x1x128x64xf16, #tile.shared<"128B">>, memref<2x64x64xf16, #tile.shared<"128B">>, tensor<128x128xf32, {{.*}}>
    // FRAG-COUNT-4: tile.tcgen05_mma
    // FRAG-NOT: tile.tcgen05_mma
    // FRAG: tile.tcgen05_commit
    // FRAG: tile.barrier_wait
    // FRAG-COUNT-2: tile.tcgen05_ld {{.*}} {form = "tcgen05.ld.sync.aligned.32x32b.x32.b32"}
    // FRAG-NEXT: tile.tcgen05_wait_ld
    %d = tile.tensor_dot %a[%stage, %c0, %c0, %c0], %b[%c0, %c0, %c0], %zero {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 2>} : !A, !B, !C
    tile.store %d, %out[%c0, %c0] : !C, memref<128x128xf32>
    gpu.return
  }

  // A tile as A is stored to tensor memory, two elements in a column, in front of the products.
  // CHECK-LABEL: gpu.func @left
  // FRAG-LABEL: gpu.func @left
  gpu.func @left(%in: memref<128x64xf16>, %out: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %b = tile.alloc_shared : !B
    %a = tile.load %in[%c0, %c0] : memref<128x64xf16> -> !Left
    %zero = arith.constant dense<0.0> : !C
    // CHECK: tile.tensor_dot %{{[0-9]+}}, %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.a::tensor", {{.*}}} : tensor<128x64xf16, {{.*}}>, memref<2x64x64xf16, #tile.shared<"128B">>, tensor<128x128xf32, {{.*}}>
    // FRAG: tile.tcgen05_st {{.*}} {form = "tcgen05.st.sync.aligned.32x32b.x16.b32"} : {{.*}}, memref<1x1x128x64xf16, #tile.tensor<"a">>
    // FRAG-NEXT: tile.tcgen05_wait_st
    // FRAG-NEXT: tile.tcgen05_fence before
    // FRAG-NEXT: gpu.barrier
    // FRAG: tile.tcgen05_fence after
    // FRAG-COUNT-4: tile.tcgen05_mma {{.*}}a::tensor
    // FRAG: tile.tcgen05_commit
    %d = tile.tensor_dot %a, %b[%c0, %c0, %c0], %zero {form = "tcgen05.mma.cta_group::1.kind::f16.a::tensor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 2>} : !Left, !B, !C
    tile.store %d, %out[%c0, %c0] : !C, memref<128x128xf32>
    gpu.return
  }

  // Of 64 rows a warp has sixteen, as fragments of mma.sync have them.
  // CHECK-LABEL: gpu.func @moves
  // FRAG-LABEL: gpu.func @moves
  gpu.func @moves() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %d = tile.alloc_tensor : !D
    %low = tile.alloc_tensor : !Low
    // CHECK: %[[X:.*]] = tile.tensor_load %{{.*}} {warps = array<i64: 4, 2>} : memref<1x1x128x128xf32, #tile.tensor<"d">> -> tensor<128x128xf32, {{.*}}>
    // FRAG-COUNT-2: tile.tcgen05_ld {{.*}}32x32b.x32
    %x = tile.tensor_load %d {warps = array<i64: 4, 2>} : !D -> !C
    // CHECK: tile.tensor_store %[[X]], %{{.*}} {warps = array<i64: 4, 2>}
    // FRAG-COUNT-2: tile.tcgen05_st {{.*}}32x32b.x32
    // FRAG-NEXT: tile.tcgen05_wait_st
    tile.tensor_store %x, %d {warps = array<i64: 4, 2>} : !C, !D
    // FRAG: tile.tcgen05_ld {{.*}}16x256b.x2
    %y = tile.tensor_load %low {warps = array<i64: 4, 2>} : !Low -> !Half
    // FRAG: tile.tcgen05_st {{.*}}16x256b.x2
    tile.tensor_store %y, %low {warps = array<i64: 4, 2>} : !Half, !Low
    gpu.return
  }
}
