// RUN: tilec %s --target sm_80 -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=COPY
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=MMA
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=STORE
//
// gemm.mlir for any M, N and K: C = A·B with f16 in and f32 out, tiles of 128x128x64 for 8 warps,
// three buffers. The row strides of A and B are multiples of 8 and the matrices 16-byte aligned,
// so that each copy of `vector = 8` elements is aligned; the extents need not be. The grid is
// (ceil(N / 128), ceil(M / 128)).
//
// A masked copy reads nothing outside the memref's extents, to the element, and writes zeros in
// its place: what a tile has beyond M, N or K adds nothing to the sums. It costs a size operand
// computed for each cp.async. A masked store writes nothing outside; `vector` would promise
// that the elements of a vector are inside or outside together, which an odd N breaks.
//
// Everything else is explained in gemm.mlir.

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

gpu.module @gemm_bounds [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm_bounds(%a: !Global, %b: !Global, %c: !Result {llvm.noalias})
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

    // The last operand is how many of the 16 bytes are read.
    // COPY-LABEL: .entry gemm_bounds
    // COPY-COUNT-24: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16, %r
    // COPY-NOT: cp.async.c

    // Prologue: slices 0 and 1 are in flight. A group may be empty, so that the count of groups
    // stays that of the slices.
    tile.async_copy %a[%row, %c0] to %sa[%c0, %c0, %c0] shape [128, 64] masked {vector = 8}
        : !Global to !SharedA
    tile.async_copy %b[%c0, %col] to %sb[%c0, %c0, %c0] shape [64, 128] masked {vector = 8}
        : !Global to !SharedB
    tile.async_commit
    %more1 = arith.cmpi ugt, %depth, %c64 : index
    scf.if %more1 {
      tile.async_copy %a[%row, %c64] to %sa[%c1, %c0, %c0] shape [128, 64] masked {vector = 8}
          : !Global to !SharedA
      tile.async_copy %b[%c64, %col] to %sb[%c1, %c0, %c0] shape [64, 128] masked {vector = 8}
          : !Global to !SharedB
    }
    tile.async_commit

    %zero = arith.constant dense<0.0> : !C
    %product, %r, %w = scf.for %k = %c0 to %depth step %c64
        iter_args(%sum = %zero, %read = %c0, %write = %c2) -> (!C, index, index) {
      // All but the latest group of copies have arrived: slice k is there.
      tile.async_wait 1
      gpu.barrier

      %ahead = arith.addi %k, %c128 : index
      %more = arith.cmpi ult, %ahead, %depth : index
      scf.if %more {
        tile.async_copy %a[%row, %ahead] to %sa[%write, %c0, %c0] shape [128, 64] masked
            {vector = 8} : !Global to !SharedA
        tile.async_copy %b[%ahead, %col] to %sb[%write, %c0, %c0] shape [64, 128] masked
            {vector = 8} : !Global to !SharedB
      }
      tile.async_commit

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

    // STORE-COUNT-64: st.global.b32
    // STORE-NOT: st.global
    tile.store %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
