// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = A·B, a warp for each 16x16 tile of C: over all of K, through shared memory, at level 3.
//
// A is MxK and B is KxN, both row-major, so B comes to PTX's `.col` operand transposed: its
// ldmatrix has `.trans`. M and N are multiples of 16, K of 64, and row strides multiples of 8,
// which `vector = 8` promises to the copies.
//
// A 64-deep slice of A and of B at a time goes to shared memory by cp.async. Its swizzle moves
// the 16-byte pieces of a row about so that the eight rows that an ldmatrix reads at once lie in
// different banks: eight places for the 128-byte rows of A, two for the 32-byte rows of B.
// Addresses follow from the memref's memory space; the program speaks of rows and columns.

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

// Two fragments of B side by side, as one ldmatrix.x4 loads them.
#BB = #tile.layout<"register [1,0] [8,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 16">
!BB = !tile.frag<tensor<16x16xf16>, #BB>

!Global = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>
!SharedA = memref<16x64xf16, #tile.shared<"128B">>
!SharedB = memref<64x16xf16, #tile.shared<"32B">>

gpu.module @warp_gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @warp_gemm(%a: !Global, %b: !Global, %c: !Result)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index

    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c16 : index
    %right = arith.addi %col, %c8 : index
    %row = arith.muli %y, %c16 : index
    %depth = memref.dim %a, %c1 : !Global

    // CHECK-LABEL: .entry warp_gemm
    %sa = tile.alloc_shared : !SharedA
    %sb = tile.alloc_shared : !SharedB
    %zero = arith.constant 0.0 : f32
    %none = tile.fill %zero : f32 -> !C

    %left, %rest = scf.for %k = %c0 to %depth step %c64 iter_args(%l = %none, %r = %none)
        -> (!C, !C) {
      // CHECK-COUNT-8: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16
      // CHECK: cp.async.wait_group 0
      // CHECK: {{bar(rier)?}}.sync
      tile.async_copy %a[%row, %k] to %sa[%c0, %c0] shape [16, 64] {vector = 8}
          : !Global to !SharedA
      tile.async_copy %b[%k, %col] to %sb[%c0, %c0] shape [64, 16] {vector = 8}
          : !Global to !SharedB
      tile.async_commit
      tile.async_wait 0
      gpu.barrier

      // LLVM unrolls a loop of four.
      // CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
      // CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
      // CHECK-COUNT-8: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
      %l1, %r1 = scf.for %kk = %c0 to %c64 step %c16 iter_args(%l2 = %l, %r2 = %r) -> (!C, !C) {
        %fa = tile.ldmatrix %sa[%c0, %kk] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
            : !SharedA -> !A
        %fb = tile.ldmatrix %sb[%kk, %c0] {form = "ldmatrix.sync.aligned.m8n8.x4.trans.b16"}
            : !SharedB -> !BB
        %b0 = tile.slice %fb[0] : !BB -> !B
        %b1 = tile.slice %fb[1] : !BB -> !B
        %l3 = tile.mma %fa, %b0, %l2 {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
            : !A, !B, !C
        %r3 = tile.mma %fa, %b1, %r2 {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
            : !A, !B, !C
        scf.yield %l3, %r3 : !C, !C
      }

      // Nobody may overwrite what another lane still reads.
      // CHECK: {{bar(rier)?}}.sync
      gpu.barrier
      scf.yield %l1, %r1 : !C, !C
    }

    // CHECK-COUNT-4: st.global.v2.{{[bf]}}32
    tile.store %left, %c[%row, %col] {vector = 2} : !C, !Result
    tile.store %rest, %c[%row, %right] {vector = 2} : !C, !Result
    gpu.return
  }
}
