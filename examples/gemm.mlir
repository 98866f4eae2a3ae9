// RUN: tilec %s --target sm_80 -o %t.sm_80.ptx
// RUN: tilec %s --target sm_90a -o %t.sm_90a.ptx
// RUN: FileCheck %s --input-file %t.sm_80.ptx --check-prefix=COPY
// RUN: FileCheck %s --input-file %t.sm_80.ptx --check-prefix=LOAD
// RUN: FileCheck %s --input-file %t.sm_80.ptx --check-prefix=MMA
// RUN: FileCheck %s --input-file %t.sm_80.ptx --check-prefix=SYNC
// RUN: FileCheck %s --input-file %t.sm_90a.ptx --check-prefix=LOAD
// RUN: FileCheck %s --input-file %t.sm_90a.ptx --check-prefix=MMA
//
// C = A·B with f16 in and f32 out: a CTA of 8 warps for each 128x128 tile of C, 64-deep slices of
// A and B in three buffers of shared memory. A is MxK, B is KxN, C is MxN, all row-major.
// M and N are multiples of 128, K of 64 and the row strides of A and B of 8; gemm_bounds.mlir
// is the same program for any M, N and K. The grid is (N / 128, M / 128).
//
// This is level 2: a tensor belongs to the whole CTA, and its layout says which element is in
// which register of which lane of which warp. `register [0,1] [8,0] …` lists where the bits of
// the register number lead, in (row, col); bits of lane and warp follow. The layouts are those
// of the instruction's operands, repeated over the registers of a warp and over 4x2 warps, each
// of which holds 32x64 of C; print them with
//
//   python -c 'from tilec.isa import form; from tilec.layout.tiling import operand_tile
//   print(operand_tile(form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
//                      "a", 128, 16, (4, 2)))'
//
// `tile.dot` becomes the instructions that this takes (16 for each warp and 16 of K), and
// `tile.load` from shared memory the ldmatrix that fit the layouts: B has .trans, being stored
// with N contiguous. The swizzles keep the eight rows of each matrix in different banks.
//
// The pipeline: before slice k is worked on, the copies of slice k + 2 are begun, into the
// buffer that slice k - 1 was read from. One barrier a slice is enough: it stands after the
// wait for slice k, so all copies of it have arrived for all threads, and before the copies of
// slice k + 2, so no warp is still reading slice k - 1.

#A = #tile.layout<"register [0,1] [8,0] [0,8] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [64,0] [0,0] -> row 128, col 16">
#B = #tile.layout<"register [1,0] [8,0] [0,8] [0,16] [0,32]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] [0,0] [0,64] -> row 16, col 128">
#C = #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [64,0] [0,64] -> row 128, col 128">

!A = tensor<128x16xf16, #A>
!B = tensor<16x128xf16, #B>
!C = tensor<128x128xf32, #C>

!Global = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>
!SharedA = memref<3x128x64xf16, #tile.shared<"128B">>
!SharedB = memref<3x64x128xf16, #tile.shared<"swizzle<3,4,4>">>

gpu.module @gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm(%a: !Global, %b: !Global, %c: !Result {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Global

    %sa = tile.alloc_shared : !SharedA
    %sb = tile.alloc_shared : !SharedB

    // Each thread copies four 16-byte pieces of A and of B.
    // COPY-LABEL: .entry gemm
    // COPY-COUNT-24: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16
    // COPY-NOT: cp.async.c

    // Prologue: slices 0 and 1 are in flight. A group may be empty, so that the count of groups
    // stays that of the slices.
    tile.async_copy %a[%row, %c0] to %sa[%c0, %c0, %c0] shape [128, 64] {vector = 8}
        : !Global to !SharedA
    tile.async_copy %b[%c0, %col] to %sb[%c0, %c0, %c0] shape [64, 128] {vector = 8}
        : !Global to !SharedB
    tile.async_commit
    %more1 = arith.cmpi ugt, %depth, %c64 : index
    scf.if %more1 {
      tile.async_copy %a[%row, %c64] to %sa[%c1, %c0, %c0] shape [128, 64] {vector = 8}
          : !Global to !SharedA
      tile.async_copy %b[%c64, %col] to %sb[%c1, %c0, %c0] shape [64, 128] {vector = 8}
          : !Global to !SharedB
    }
    tile.async_commit

    %zero = arith.constant dense<0.0> : !C
    %product, %r, %w = scf.for %k = %c0 to %depth step %c64
        iter_args(%sum = %zero, %read = %c0, %write = %c2) -> (!C, index, index) {
      // All but the latest group of copies have arrived: slice k is there.
      // SYNC: cp.async.wait_group 1
      // SYNC-NEXT: {{bar(rier)?}}.sync
      // SYNC-NOT: {{bar(rier)?}}.sync
      tile.async_wait 1
      gpu.barrier

      %ahead = arith.addi %k, %c128 : index
      %more = arith.cmpi ult, %ahead, %depth : index
      scf.if %more {
        tile.async_copy %a[%row, %ahead] to %sa[%write, %c0, %c0] shape [128, 64] {vector = 8}
            : !Global to !SharedA
        tile.async_copy %b[%ahead, %col] to %sb[%write, %c0, %c0] shape [64, 128] {vector = 8}
            : !Global to !SharedB
      }
      tile.async_commit

      // The slice by 16 of K at a time: 2 ldmatrix of A, 4 of B and 16 mma for each warp.
      // LOAD-COUNT-24: ldmatrix.sync.aligned.m8n8.x4.{{(trans\.)?}}shared.b16
      // LOAD-NOT: ldmatrix
      // MMA-COUNT-64: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
      // MMA-NOT: mma.sync
      %a0 = tile.load %sa[%read, %c0, %c0] : !SharedA -> !A
      %b0 = tile.load %sb[%read, %c0, %c0] : !SharedB -> !B
      %a1 = tile.load %sa[%read, %c0, %c16] : !SharedA -> !A
      %b1 = tile.load %sb[%read, %c16, %c0] : !SharedB -> !B
      %a2 = tile.load %sa[%read, %c0, %c32] : !SharedA -> !A
      %b2 = tile.load %sb[%read, %c32, %c0] : !SharedB -> !B
      %a3 = tile.load %sa[%read, %c0, %c48] : !SharedA -> !A
      %b3 = tile.load %sb[%read, %c48, %c0] : !SharedB -> !B
      %s0 = tile.dot %a0, %b0, %sum {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      %s1 = tile.dot %a1, %b1, %s0 {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      %s2 = tile.dot %a2, %b2, %s1 {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      %s3 = tile.dot %a3, %b3, %s2 {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C

      %next = arith.addi %read, %c1 : index
      %wraps = arith.cmpi eq, %next, %c3 : index
      %following = arith.select %wraps, %c0, %next : index
      scf.yield %s3, %following, %read : !C, index, index
    }

    tile.store %product, %c[%row, %col] {vector = 2} : !C, !Result
    gpu.return
  }
}
