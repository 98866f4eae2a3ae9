// RUN: tilec %s --target sm_80 | FileCheck %s
// RUN: tilec %s --target sm_75 | FileCheck %s
// RUN: tilec %s --target sm_75 | FileCheck %s --check-prefix=MMA
//
// C = A·B for any M, N and K and any strides: A, B and C may be transposed, slices of something
// larger, or of odd row lengths. The grid is (ceil(N / 64), ceil(M / 64)); 4 warps hold a 64x64
// tile of C, two by two.
//
// Nothing is known to be aligned, so elements are copied one by one. cp.async moves 4 bytes at
// least; a `tile.async_copy` of less is a load and a store of each thread, in order, and there is
// nothing to overlap: one buffer, a barrier before and one after the work. The rest, shared
// memory and ldmatrix included, is that of gemm.mlir, and it runs on sm_75, which has no cp.async.

#A = #tile.layout<"register [0,1] [8,0] [16,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">
#B = #tile.layout<"register [1,0] [0,8] [0,16] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] [0,32] -> row 32, col 64">
#C = #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,32] -> row 64, col 64">

!A = tensor<64x32xf16, #A>
!B = tensor<32x64xf16, #B>
!C = tensor<64x64xf32, #C>

!Global = memref<?x?xf16, strided<[?, ?]>>
!Result = memref<?x?xf32, strided<[?, ?]>>
!SharedA = memref<64x32xf16, #tile.shared<"64B">>
!SharedB = memref<32x64xf16, #tile.shared<"128B">>

gpu.module @gemm_strides [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm_strides(%a: !Global, %b: !Global, %c: !Result {llvm.noalias})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index

    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c64 : index
    %row = arith.muli %y, %c64 : index
    %depth = memref.dim %a, %c1 : !Global

    // CHECK-LABEL: .entry gemm_strides
    // CHECK-NOT: cp.async
    %sa = tile.alloc_shared : !SharedA
    %sb = tile.alloc_shared : !SharedB
    %zero = arith.constant dense<0.0> : !C

    %product = scf.for %k = %c0 to %depth step %c32 iter_args(%sum = %zero) -> !C {
      // CHECK: ld.global.{{[bu]}}16
      // CHECK: st.shared.{{[bu]}}16
      tile.async_copy %a[%row, %k] to %sa[%c0, %c0] shape [64, 32] masked : !Global to !SharedA
      tile.async_copy %b[%k, %col] to %sb[%c0, %c0] shape [32, 64] masked : !Global to !SharedB

      // MMA: {{bar(rier)?}}.sync
      // MMA-COUNT-8: ldmatrix.sync.aligned.m8n8.x4
      // MMA-COUNT-32: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
      // MMA: {{bar(rier)?}}.sync
      gpu.barrier
      %fa = tile.load %sa[%c0, %c0] : !SharedA -> !A
      %fb = tile.load %sb[%c0, %c0] : !SharedB -> !B
      %next = tile.dot %fa, %fb, %sum {form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      gpu.barrier
      scf.yield %next : !C
    }

    tile.store %product, %c[%row, %col] masked : !C, !Result
    gpu.return
  }
}
