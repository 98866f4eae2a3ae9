// RUN: tile-opt %s --split-input-file --tile-fragments-to-nvvm --cse | FileCheck %s

// The accumulator goes through the fence, the product and the wait in its registers.

!A = memref<2x64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @product
  gpu.func @product(%stage: index, %out: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %true = arith.constant true
    // CHECK-DAG: %[[BASE:.*]] = llvm.mlir.addressof @product_shared
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    // CHECK-DAG: %[[ZERO:.*]] = llvm.mlir.zero : f32
    %z = tile.accumulator : !D
    // CHECK: %[[F:.*]] = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ZERO]]
    // CHECK: %[[F0:.*]] = llvm.extractvalue %[[F]][0]
    %f = tile.wgmma_fence %z : !D
    // A's descriptor: the address, 512 chunks a stage, two along K; stride 1024, swizzle 128B.
    // CHECK: %[[AT:.*]] = llvm.ptrtoint %[[BASE]]
    // CHECK: llvm.and %[[AT]], %{{.*}}
    // CHECK: %[[STAGE:.*]] = arith.index_castui %{{.*}} : index to i32
    // CHECK: llvm.mul %[[STAGE]], %[[CHUNKS:.*]] : i32
    // CHECK: llvm.mlir.constant(4611686293305360384 : i64) : i64
    // CHECK: llvm.mlir.constant(2 : i64) : i64
    // CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, $5, $10, $11, $12, $13, $14;", "=f,=f,=f,=f,l,l,0,1,2,3,b,n,n,n,n" %{{.*}}, %{{.*}}, %[[F0]]
    %d = tile.wgmma %a[%stage, %c0, %c16], %b[%c0, %c0], %f if %true
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
    // CHECK: llvm.inline_asm has_side_effects "wgmma.commit_group.sync.aligned;"
    tile.wgmma_commit
    // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
    %w = tile.wgmma_wait 0 %d : !D
    %p = tile.warp_part %w column 0 : !D -> !P
    tile.store %p, %out[%c0, %c0] : !P, memref<16x8xf32>
    gpu.return
  }
}

// -----

// What comes from one place is one assembly, from the fence to the wait: its results are written
// before it has read all that it takes, which is therefore in other registers.

!A = memref<2x64x64xf16, #tile.shared<"128B">>
!B = memref<8x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x8xf32>, #tile.layout<"m64n8k16 d f32">>
!P = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
#here = loc("gemm.py":3:7)
#there = loc("gemm.py":4:7)
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @run
  gpu.func @run(%out: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %true = arith.constant true
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %z = tile.accumulator : !D
    // CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;\0A\09wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, $5, $6, 1, 1, 0, 0;\0A\09wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $7, $8, $6, 1, 1, 0, 0;\0A\09wgmma.commit_group.sync.aligned;\0A\09wgmma.wait_group.sync.aligned 0;", "=&f,=&f,=&f,=&f,l,l,b,l,l,0,1,2,3,~{memory}"
    // CHECK-COUNT-4: llvm.extractvalue %[[D]]
    // CHECK-NOT: wgmma
    %f = tile.wgmma_fence %z : !D loc(#here)
    %d0 = tile.wgmma %a[%c0, %c0, %c0], %b[%c0, %c0], %f if %true
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D loc(#here)
    %at = arith.addi %c0, %c16 : index
    %d1 = tile.wgmma %a[%c0, %c0, %at], %b[%c0, %at], %d0 if %true
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D loc(#here)
    tile.wgmma_commit loc(#here)
    %w = tile.wgmma_wait 0 %d1 : !D loc(#here)
    %p = tile.warp_part %w column 0 : !D -> !P
    tile.store %p, %out[%c0, %c0] : !P, memref<16x8xf32>
    gpu.return
  }

  // A product that something else looks at stands alone, as does what another line says, so that
  // debuggers know which.
  // CHECK-LABEL: gpu.func @apart
  gpu.func @apart(%out: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %z = tile.accumulator : !D
    // CHECK: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,
    %f = tile.wgmma_fence %z : !D loc(#here)
    // CHECK: llvm.inline_asm has_side_effects "wgmma.mma_async{{[^;]*}};", "=f,
    %d0 = tile.wgmma %a[%c0, %c0, %c0], %b[%c0, %c0], %f if %true
        {form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16.a::descriptor"} : !A, !B, !D loc(#there)
    // CHECK: llvm.inline_asm has_side_effects "wgmma.commit_group.sync.aligned;"
    tile.wgmma_commit loc(#here)
    // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;"
    %w = tile.wgmma_wait 0 %d0 : !D loc(#there)
    %p = tile.warp_part %w column 0 : !D -> !P
    tile.store %p, %out[%c0, %c0] : !P, memref<16x8xf32>
    gpu.return
  }
}
