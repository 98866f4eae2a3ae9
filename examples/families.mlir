// RUN: tilec %s --target sm_80 | FileCheck %s
// RUN: tilec %s --target sm_90a | FileCheck %s
//
// C = A·B on other element types, with B stored either way round. Each kernel is one warp for a
// 16x16 tile of C, over all of K, without shared memory unless that is the point. Extents are
// multiples of the tile. A and C are row-major throughout.
//
//   gemm_s8    s8 -> s32, B given as NxK: K contiguous, as the instruction wants it
//   gemm_bf16  bf16 -> f32, B as NxK, through shared memory: ldmatrix without .trans
//   gemm_tf32  tf32 -> f32, B as KxN: N contiguous; memory holds f32
//   gemm_f64   f64 -> f64, B as KxN
//
// Tensors have level 2's layouts, of one warp: `warp` without bits.

#A8 = #tile.layout<"register [0,1] [0,2] [8,0] [0,16]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp -> row 16, col 32">
#B8 = #tile.layout<"register [1,0] [2,0] [16,0] [0,8]; lane [4,0] [8,0] [0,1] [0,2] [0,4]; warp -> row 32, col 16">
!A8 = tensor<16x32xi8, #A8>
!B8 = tensor<32x16xi8, #B8>
!Global8 = memref<?x?xi8, strided<[?, 1]>>

#A16 = #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 16">
#B16 = #tile.layout<"register [1,0] [8,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp -> row 16, col 16">
!A16 = tensor<16x16xbf16, #A16>
!B16 = tensor<16x16xbf16, #B16>
!Global16 = memref<?x?xbf16, strided<[?, 1]>>
!Shared16 = memref<16x16xbf16, #tile.shared<"32B">>

#A32 = #tile.layout<"register [8,0] [0,4]; lane [0,1] [0,2] [1,0] [2,0] [4,0]; warp -> row 16, col 8">
#B32 = #tile.layout<"register [4,0] [0,8]; lane [1,0] [2,0] [0,1] [0,2] [0,4]; warp -> row 8, col 16">
!A32 = tensor<16x8xtf32, #A32>
!B32 = tensor<8x16xtf32, #B32>
!Global32 = memref<?x?xf32, strided<[?, 1]>>

#A64 = #tile.layout<"register [8,0]; lane [0,1] [0,2] [1,0] [2,0] [4,0]; warp -> row 16, col 4">
#B64 = #tile.layout<"register [0,8]; lane [1,0] [2,0] [0,1] [0,2] [0,4]; warp -> row 4, col 16">
#C64 = #tile.layout<"register [0,1] [0,8] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 16">
!A64 = tensor<16x4xf64, #A64>
!B64 = tensor<4x16xf64, #B64>
!C64 = tensor<16x16xf64, #C64>
!Global64 = memref<?x?xf64, strided<[?, 1]>>

// The accumulators of every m16n8 form lie alike.
#C = #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 16">
!CS32 = tensor<16x16xi32, #C>
!CF32 = tensor<16x16xf32, #C>
!ResultS32 = memref<?x?xi32, strided<[?, 1]>>
!ResultF32 = memref<?x?xf32, strided<[?, 1]>>

gpu.module @families [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: .entry gemm_s8
  gpu.func @gemm_s8(%a: !Global8, %b: !Global8, %c: !ResultS32 {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c16 : index
    %row = arith.muli %y, %c16 : index
    %depth = memref.dim %a, %c1 : !Global8
    %zero = arith.constant dense<0> : !CS32

    // Four values of K fill a register: aligned, so one load each.
    // CHECK-COUNT-8: ld.global.b32
    // CHECK-COUNT-2: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
    %product = scf.for %k = %c0 to %depth step %c32 iter_args(%sum = %zero) -> !CS32 {
      %fa = tile.load %a[%row, %k] {vector = 4} : !Global8 -> !A8
      %fb = tile.load %b[%col, %k] transposed {vector = 4} : !Global8 -> !B8
      %next = tile.dot %fa, %fb, %sum {form = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"}
          : !A8, !B8, !CS32
      scf.yield %next : !CS32
    }
    tile.store %product, %c[%row, %col] {vector = 2} : !CS32, !ResultS32
    gpu.return
  }

  // CHECK-LABEL: .entry gemm_bf16
  gpu.func @gemm_bf16(%a: !Global16, %b: !Global16, %c: !ResultF32 {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c16 : index
    %row = arith.muli %y, %c16 : index
    %depth = memref.dim %a, %c1 : !Global16
    %zero = arith.constant dense<0.0> : !CF32
    %sa = tile.alloc_shared : !Shared16
    %sb = tile.alloc_shared : !Shared16

    // CHECK-COUNT-2: cp.async.cg.shared.global
    // CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.shared.b16
    // CHECK-COUNT-2: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    %product = scf.for %k = %c0 to %depth step %c16 iter_args(%sum = %zero) -> !CF32 {
      tile.async_copy %a[%row, %k] to %sa[%c0, %c0] shape [16, 16] {vector = 8}
          : !Global16 to !Shared16
      tile.async_copy %b[%col, %k] to %sb[%c0, %c0] shape [16, 16] {vector = 8}
          : !Global16 to !Shared16
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %fa = tile.load %sa[%c0, %c0] : !Shared16 -> !A16
      %fb = tile.load %sb[%c0, %c0] transposed : !Shared16 -> !B16
      %next = tile.dot %fa, %fb, %sum {form = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}
          : !A16, !B16, !CF32
      gpu.barrier
      scf.yield %next : !CF32
    }
    tile.store %product, %c[%row, %col] {vector = 2} : !CF32, !ResultF32
    gpu.return
  }

  // CHECK-LABEL: .entry gemm_tf32
  gpu.func @gemm_tf32(%a: !Global32, %b: !Global32, %c: !ResultF32 {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c16 : index
    %row = arith.muli %y, %c16 : index
    %depth = memref.dim %a, %c1 : !Global32
    %zero = arith.constant dense<0.0> : !CF32

    // An f32 is taken for a tf32 as it is; the instruction ignores its low 13 bits.
    // CHECK-COUNT-8: ld.global.b32
    // CHECK-COUNT-2: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
    %product = scf.for %k = %c0 to %depth step %c8 iter_args(%sum = %zero) -> !CF32 {
      %fa = tile.load %a[%row, %k] : !Global32 -> !A32
      %fb = tile.load %b[%k, %col] : !Global32 -> !B32
      %next = tile.dot %fa, %fb, %sum {form = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"}
          : !A32, !B32, !CF32
      scf.yield %next : !CF32
    }
    tile.store %product, %c[%row, %col] {vector = 2} : !CF32, !ResultF32
    gpu.return
  }

  // CHECK-LABEL: .entry gemm_f64
  gpu.func @gemm_f64(%a: !Global64, %b: !Global64, %c: !Global64 {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c16 : index
    %row = arith.muli %y, %c16 : index
    %depth = memref.dim %a, %c1 : !Global64
    %zero = arith.constant dense<0.0> : !C64

    // CHECK-COUNT-4: ld.global.{{[bf]}}64
    // CHECK-COUNT-4: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
    // CHECK-COUNT-4: st.global.v2.{{[bf]}}64
    %product = scf.for %k = %c0 to %depth step %c4 iter_args(%sum = %zero) -> !C64 {
      %fa = tile.load %a[%row, %k] : !Global64 -> !A64
      %fb = tile.load %b[%k, %col] : !Global64 -> !B64
      %next = tile.dot %fa, %fb, %sum {form = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn"}
          : !A64, !B64, !C64
      scf.yield %next : !C64
    }
    tile.store %product, %c[%row, %col] {vector = 2} : !C64, !Global64
    gpu.return
  }
}
