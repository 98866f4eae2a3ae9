// REQUIRES: ptxas
// RUN: tilec %s -o - | FileCheck %s
// RUN: tilec %s --emit cubin -o %t.cubin

// One instruction of each family, from tile ops to PTX and through ptxas; `tile-isa` writes such a
// program for any other form.

!a = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!b = !tile.frag<tensor<16x8xf16>, #tile.layout<"register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 8">>
!c = !tile.frag<tensor<16x8xf32>, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
!a2 = !tile.frag<tensor<16x64xi4>, #tile.layout<"register [0,1] [0,2] [0,4] [8,0] [0,32]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 16, col 64">>
!b2 = !tile.frag<tensor<64x8xi4>, #tile.layout<"register [1,0] [2,0] [4,0] [32,0]; lane [8,0] [16,0] [0,1] [0,2] [0,4] -> row 64, col 8">>
!c2 = !tile.frag<tensor<16x8xi32>, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
!a3 = !tile.frag<tensor<16x256xi1>, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16] [8,0] [0,128]; lane [0,32] [0,64] [1,0] [2,0] [4,0] -> row 16, col 256">>
!b3 = !tile.frag<tensor<256x8xi1>, #tile.layout<"register [1,0] [2,0] [4,0] [8,0] [16,0] [128,0]; lane [32,0] [64,0] [0,1] [0,2] [0,4] -> row 256, col 8">>
!a4 = !tile.frag<tensor<16x32x!tile.byte<f6E3M2FN>>, #tile.layout<"register [0,1] [0,2] [8,0] [0,16]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 32">>
!b4 = !tile.frag<tensor<32x8x!tile.byte<f4E2M1FN>>, #tile.layout<"register [1,0] [2,0] [16,0]; lane [4,0] [8,0] [0,1] [0,2] [0,4] -> row 32, col 8">>
!a5 = !tile.frag<tensor<16x64xf4E2M1FN>, #tile.layout<"register [0,1] [0,2] [0,4] [8,0] [0,32]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 16, col 64">>
!b5 = !tile.frag<tensor<64x8xf4E2M1FN>, #tile.layout<"register [1,0] [2,0] [4,0] [32,0]; lane [8,0] [16,0] [0,1] [0,2] [0,4] -> row 64, col 8">>
!sfa = !tile.frag<tensor<32x4xf8E8M0FNU>, #tile.layout<"register [0,1] [0,2]; lane [8,0] [16,0] [1,0] [2,0] [4,0] -> row 32, col 4">>
!sfb = !tile.frag<tensor<4x32xf8E8M0FNU>, #tile.layout<"register [1,0] [2,0]; lane [0,8] [0,16] [0,1] [0,2] [0,4] -> row 4, col 32">>
!b6 = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>
!e = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!b7 = !tile.frag<tensor<128x8xf4E2M1FN>, #tile.layout<"register [1,0] [2,0] [4,0] [32,0] [64,0]; lane [8,0] [16,0] [0,1] [0,2] [0,4] -> row 128, col 8">>
!e2 = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!memory_copy = !tile.frag<tensor<32x8xi16>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 8">>
!r = !tile.frag<tensor<32x8xi16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>
!memory_copy2 = !tile.frag<tensor<16x16xi8>, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16">>
!r2 = !tile.frag<tensor<16x16xi8>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!r3 = !tile.frag<tensor<16x16xi8>, #tile.layout<"register [1,0] [0,8] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 16">>
!a6 = !tile.frag<tensor<8x8xi16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
!d = !tile.frag<tensor<8x8xi16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>
!a7 = !tile.wmma<"m16n16k16 a row f16">
!b8 = !tile.wmma<"m16n16k16 b col f16">
!c3 = !tile.wmma<"m16n16k16 c f32">

gpu.module @forms [#nvvm.target<chip = "sm_120a">] {
  // Halves.
  // CHECK-LABEL: .entry dense(
  // CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  // CHECK: ret;
  gpu.func @dense(
      %d_global: memref<16x8xf32>,
      %a_global: memref<16x16xf16>,
      %b_global: memref<16x8xf16>,
      %c_global: memref<16x8xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 8} : memref<16x16xf16> -> !a
    %b = tile.load %b_global[%c0, %c0] {vector = 8} : memref<16x8xf16> -> !b
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xf32> -> !c
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !a, !b, !c
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c, memref<16x8xf32>
    gpu.return
  }

  // Packed integers: two to a byte of memory, and B transposed, so that they lie along K.
  // CHECK-LABEL: .entry nibbles(
  // CHECK: mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32
  // CHECK: ret;
  gpu.func @nibbles(
      %d_global: memref<16x8xi32>,
      %a_global: memref<16x32xi8>,
      %b_global: memref<8x32xi8>,
      %c_global: memref<16x8xi32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 16} : memref<16x32xi8> -> !a2
    %b = tile.load %b_global[%c0, %c0] transposed {vector = 16} : memref<8x32xi8> -> !b2
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xi32> -> !c2
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32"}
        : !a2, !b2, !c2
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c2, memref<16x8xi32>
    gpu.return
  }

  // Eight to a byte.
  // CHECK-LABEL: .entry bits(
  // CHECK: mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc
  // CHECK: ret;
  gpu.func @bits(
      %d_global: memref<16x8xi32>,
      %a_global: memref<16x32xi8>,
      %b_global: memref<8x32xi8>,
      %c_global: memref<16x8xi32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 16} : memref<16x32xi8> -> !a3
    %b = tile.load %b_global[%c0, %c0] transposed {vector = 16} : memref<8x32xi8> -> !b3
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xi32> -> !c2
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc"}
        : !a3, !b3, !c2
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c2, memref<16x8xi32>
    gpu.return
  }

  // Narrow floats, a byte each.
  // CHECK-LABEL: .entry byte_floats(
  // CHECK: mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32
  // CHECK: ret;
  gpu.func @byte_floats(
      %d_global: memref<16x8xf32>,
      %a_global: memref<16x32xi8>,
      %b_global: memref<32x8xi8>,
      %c_global: memref<16x8xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 16} : memref<16x32xi8> -> !a4
    %b = tile.load %b_global[%c0, %c0] {vector = 8} : memref<32x8xi8> -> !b4
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xf32> -> !c
    %d = tile.mma %a, %b, %c
        {form = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32"} : !a4, !b4, !c
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c, memref<16x8xf32>
    gpu.return
  }

  // Packed floats with scale factors.
  // CHECK-LABEL: .entry scaled(
  // CHECK: mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
  // CHECK: ret;
  gpu.func @scaled(
      %d_global: memref<16x8xf32>,
      %a_global: memref<16x32xi8>,
      %b_global: memref<8x32xi8>,
      %c_global: memref<16x8xf32>,
      %sfa_global: memref<32x4xf8E8M0FNU>,
      %sfb_global: memref<4x32xf8E8M0FNU>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 16} : memref<16x32xi8> -> !a5
    %b = tile.load %b_global[%c0, %c0] transposed {vector = 16} : memref<8x32xi8> -> !b5
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xf32> -> !c
    %sfa = tile.load %sfa_global[%c0, %c0] {vector = 4} : memref<32x4xf8E8M0FNU> -> !sfa
    %sfb = tile.load %sfb_global[%c0, %c0] {vector = 16} : memref<4x32xf8E8M0FNU> -> !sfb
    %d = tile.mma_scaled %a, %b, %c, %sfa, %sfb {form = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !a5, !b5, !c, !sfa, !sfb
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c, memref<16x8xf32>
    gpu.return
  }

  // A sparse A with its metadata.
  // CHECK-LABEL: .entry sparse(
  // CHECK: mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32
  // CHECK: ret;
  gpu.func @sparse(
      %d_global: memref<16x8xf32>,
      %a_global: memref<16x16xf16>,
      %b_global: memref<32x8xf16>,
      %c_global: memref<16x8xf32>,
      %e_global: memref<16x8xi8>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 8} : memref<16x16xf16> -> !a
    %b = tile.load %b_global[%c0, %c0] {vector = 8} : memref<32x8xf16> -> !b6
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xf32> -> !c
    %e = tile.load %e_global[%c0, %c0] {vector = 8} : memref<16x8xi8> -> !e
    %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !a, !b6, !c, !e
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c, memref<16x8xf32>
    gpu.return
  }

  // Both.
  // CHECK-LABEL: .entry sparse_scaled(
  // CHECK: mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0
  // CHECK: ret;
  gpu.func @sparse_scaled(
      %d_global: memref<16x8xf32>,
      %a_global: memref<16x32xi8>,
      %b_global: memref<8x64xi8>,
      %c_global: memref<16x8xf32>,
      %e_global: memref<16x8xi8>,
      %sfa_global: memref<32x4xf8E8M0FNU>,
      %sfb_global: memref<4x32xf8E8M0FNU>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 16} : memref<16x32xi8> -> !a5
    %b = tile.load %b_global[%c0, %c0] transposed {vector = 16} : memref<8x64xi8> -> !b7
    %c = tile.load %c_global[%c0, %c0] {vector = 4} : memref<16x8xf32> -> !c
    %e = tile.load %e_global[%c0, %c0] {vector = 8} : memref<16x8xi8> -> !e2
    %sfa = tile.load %sfa_global[%c0, %c0] {vector = 4} : memref<32x4xf8E8M0FNU> -> !sfa
    %sfb = tile.load %sfb_global[%c0, %c0] {vector = 16} : memref<4x32xf8E8M0FNU> -> !sfb
    %d = tile.mma_sp_scaled %a, %b, %c, %e, %sfa, %sfb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", selector = 0, byte_id_a = 0, thread_id_a = 0, byte_id_b = 0, thread_id_b = 0} : !a5, !b7, !c, !e2, !sfa, !sfb
    tile.store %d, %d_global[%c0, %c0] {vector = 4} : !c, memref<16x8xf32>
    gpu.return
  }

  // Matrices from shared memory, transposed on the way.
  // CHECK-LABEL: .entry ldmatrix(
  // CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
  // CHECK: ret;
  gpu.func @ldmatrix(
      %r_global: memref<32x8xi16>,
      %memory_global: memref<32x8xi16>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %memory_shared = tile.alloc_shared : memref<32x8xi16, #tile.shared<"none">>
    %memory_copy = tile.load %memory_global[%c0, %c0] {vector = 8}
        : memref<32x8xi16> -> !memory_copy
    tile.store %memory_copy, %memory_shared[%c0, %c0] {vector = 8}
        : !memory_copy, memref<32x8xi16, #tile.shared<"none">>
    gpu.barrier
    %r = tile.ldmatrix %memory_shared[%c0, %c0] {form = "ldmatrix.sync.aligned.m8n8.x4.trans.b16"}
        : memref<32x8xi16, #tile.shared<"none">> -> !r
    tile.store %r, %r_global[%c0, %c0] {vector = 8} : !r, memref<32x8xi16>
    gpu.return
  }

  // Six bits unpacked to bytes.
  // CHECK-LABEL: .entry ldmatrix_unpacked(
  // CHECK: ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32
  // CHECK: ret;
  gpu.func @ldmatrix_unpacked(
      %r_global: memref<16x16xi8>,
      %memory_global: memref<16x16xi8>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %memory_shared = tile.alloc_shared : memref<16x16xi8, #tile.shared<"none">>
    %memory_copy = tile.load %memory_global[%c0, %c0] {vector = 16}
        : memref<16x16xi8> -> !memory_copy2
    tile.store %memory_copy, %memory_shared[%c0, %c0] {vector = 16}
        : !memory_copy2, memref<16x16xi8, #tile.shared<"none">>
    gpu.barrier
    %r = tile.ldmatrix %memory_shared[%c0, %c0] {form = "ldmatrix.sync.aligned.m8n16.x2.b8x16.b6x16_p32"} : memref<16x16xi8, #tile.shared<"none">> -> !r2
    tile.store %r, %r_global[%c0, %c0] {vector = 16} : !r2, memref<16x16xi8>
    gpu.return
  }

  // Matrices to shared memory.
  // CHECK-LABEL: .entry stmatrix(
  // CHECK: stmatrix.sync.aligned.m16n8.x2.trans.shared.b8
  // CHECK: ret;
  gpu.func @stmatrix(
      %r_global: memref<16x16xi8>,
      %memory_global: memref<16x16xi8>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %memory_shared = tile.alloc_shared : memref<16x16xi8, #tile.shared<"none">>
    %r = tile.load %r_global[%c0, %c0] {vector = 16} : memref<16x16xi8> -> !r3
    tile.stmatrix %r, %memory_shared[%c0, %c0] {form = "stmatrix.sync.aligned.m16n8.x2.trans.b8"}
        : !r3, memref<16x16xi8, #tile.shared<"none">>
    gpu.barrier
    %memory_copy = tile.load %memory_shared[%c0, %c0] {vector = 16}
        : memref<16x16xi8, #tile.shared<"none">> -> !memory_copy2
    tile.store %memory_copy, %memory_global[%c0, %c0] {vector = 16}
        : !memory_copy2, memref<16x16xi8>
    gpu.return
  }

  // A transpose within the warp.
  // CHECK-LABEL: .entry movmatrix(
  // CHECK: movmatrix.sync.aligned.m8n8.trans.b16
  // CHECK: ret;
  gpu.func @movmatrix(
      %d_global: memref<8x8xi16>,
      %a_global: memref<8x8xi16>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %a_global[%c0, %c0] {vector = 8} : memref<8x8xi16> -> !a6
    %d = tile.movmatrix %a {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !a6 -> !d
    tile.store %d, %d_global[%c0, %c0] {vector = 8} : !d, memref<8x8xi16>
    gpu.return
  }

  // Fragments without a layout.
  // CHECK-LABEL: .entry wmma(
  // CHECK: wmma.load.a.sync.aligned.row.m16n16k16{{.*}}.f16
  // CHECK: wmma.load.b.sync.aligned.col.m16n16k16{{.*}}.f16
  // CHECK: wmma.load.c.sync.aligned.row.m16n16k16{{.*}}.f32
  // CHECK: wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
  // CHECK: wmma.store.d.sync.aligned.row.m16n16k16{{.*}}.f32
  // CHECK: ret;
  gpu.func @wmma(
      %d_global: memref<16x16xf32>,
      %a_global: memref<16x16xf16>,
      %b_global: memref<16x16xf16>,
      %c_global: memref<16x16xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.wmma_load %a_global[%c0, %c0] {form = "wmma.load.a.sync.aligned.row.m16n16k16.f16"}
        : memref<16x16xf16> -> !a7
    %b = tile.wmma_load %b_global[%c0, %c0] {form = "wmma.load.b.sync.aligned.col.m16n16k16.f16"}
        : memref<16x16xf16> -> !b8
    %c = tile.wmma_load %c_global[%c0, %c0] {form = "wmma.load.c.sync.aligned.row.m16n16k16.f32"}
        : memref<16x16xf32> -> !c3
    %d = tile.wmma_mma %a, %b, %c {form = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"}
        : !a7, !b8, !c3
    tile.wmma_store %d, %d_global[%c0, %c0] {form = "wmma.store.d.sync.aligned.row.m16n16k16.f32"}
        : !c3, memref<16x16xf32>
    gpu.return
  }
}
