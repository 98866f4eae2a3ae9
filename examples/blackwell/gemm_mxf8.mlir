// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
//
// C = A·Bᵀ of mxf8 to f16 on Blackwell, at level 3: e4m3, of which 32 along K share a factor.
//
// It is `gemm_fp8.mlir` with scale factors, ue8m0. They come as cuBLAS has them: 512 bytes are those of
// 128 rows and 128 of K, the factor j of row r in byte 16·(r mod 32) + 4·(r / 32) + j; such pieces
// follow each other along K, then along M or N. An array of them has rows of 16 bytes. TMA brings
// them to shared memory, `tcgen05.cp` from there to tensor memory, ahead of the products that the same
// thread issues. Each stage has columns of its own: nothing orders a copy behind products.
//
// M, N and K may be anything whose rows are multiples of 16 bytes; factors are of whole pieces.
//
// Launch ceil(M / 128) CTAs along x, ceil(N / 256) along y, with A [M][K], B [N][K], C [M][N], and the
// factors of A and of B, [ceil(M / 128)·ceil(K / 128)·32][16] and [ceil(N / 128)·ceil(K / 128)·32][16].

!M = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!O = memref<?x?xf16, strided<[?, 1]>>
!A = memref<3x128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<3x256x128xf8E4M3FN, #tile.shared<"128B">>
!C = memref<4x128x64xf16, #tile.shared<"128B">>
!S = memref<?x16xi8>
!AtomsA = memref<3x32x16xi8, #tile.shared<"none">>
!AtomsB = memref<6x32x16xi8, #tile.shared<"none">>
!SFA = memref<3x128x4xi8, #tile.tensor<"scale">>
!SFB = memref<3x256x4xi8, #tile.tensor<"scale">>
!Bars = memref<3xi64, #tile.shared<"none">>
!Bar = memref<1xi64, #tile.shared<"none">>
!D = memref<128x256xf32, #tile.tensor<"d">>
!X = !tile.frag<tensor<32x32xf32>, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 32">>
!Y = !tile.frag<tensor<32x32xf16>, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 32">>

gpu.module @blackwell [#nvvm.target<chip = "sm_100a">] {
  gpu.func @gemm(%ma: !M, %mb: !M, %mc: !O, %msa: !S, %msb: !S) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %lanes = arith.constant -1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %c = tile.alloc_shared : !C
    %full = tile.alloc_shared : !Bars
    %empty = tile.alloc_shared : !Bars
    %done = tile.alloc_shared : !Bar
    %sa = tile.alloc_shared : !AtomsA
    %sb = tile.alloc_shared : !AtomsB
    %d = tile.alloc_tensor : !D
    %sfa = tile.alloc_tensor : !SFA
    %sfb = tile.alloc_tensor : !SFB

    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %row = arith.muli %block_x, %c128 : index
    %col = arith.muli %block_y, %c256 : index
    %depth = memref.dim %ma, %c1 : !M
    %steps = arith.ceildivui %depth, %c128 : index
    // Where the factors of this tile begin: of A one row of pieces, of B two.
    %piece_rows = arith.muli %steps, %c32 : index
    %first_a = arith.muli %block_x, %piece_rows : index
    %blocks_b = arith.muli %block_y, %c2 : index
    %first_b = arith.muli %blocks_b, %piece_rows : index
    %second_b = arith.addi %first_b, %piece_rows : index
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index

    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {
      scf.for %s = %c0 to %c3 step %c1 {
        tile.barrier_init %full[%s] count 1 : !Bars
        tile.barrier_init %empty[%s] count 1 : !Bars
      }
      tile.barrier_init %done[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier

    %is_loader = arith.cmpi eq, %warp, %c0 : index
    %is_multiplier = arith.cmpi eq, %warp, %c1 : index
    %is_storer = arith.cmpi ugt, %warp, %c1 : index
    scf.if %is_loader {
      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        // The phase before the first counts as ended: the first three waits end at once.
        %end:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%stage = %c0, %parity = %true) -> (index, i1) {
          %kcol = arith.muli %k, %c128 : index
          tile.barrier_wait %empty[%stage] parity %parity : !Bars
          tile.barrier_expect %full[%stage] bytes 50688 : !Bars
          tile.tma_load %ma[%row, %kcol] to %a[%stage, %c0, %c0] signal %full[%stage] shape [128, 128] : !M to !A signal !Bars
          tile.tma_load %mb[%col, %kcol] to %b[%stage, %c0, %c0] signal %full[%stage] shape [256, 128] : !M to !B signal !Bars
          %piece = arith.muli %k, %c32 : index
          %piece_a = arith.addi %first_a, %piece : index
          %piece_b0 = arith.addi %first_b, %piece : index
          %piece_b1 = arith.addi %second_b, %piece : index
          %at0 = arith.muli %stage, %c2 : index
          %at1 = arith.addi %at0, %c1 : index
          tile.tma_load %msa[%piece_a, %c0] to %sa[%stage, %c0, %c0] signal %full[%stage] shape [32, 16] : !S to !AtomsA signal !Bars
          tile.tma_load %msb[%piece_b0, %c0] to %sb[%at0, %c0, %c0] signal %full[%stage] shape [32, 16] : !S to !AtomsB signal !Bars
          tile.tma_load %msb[%piece_b1, %c0] to %sb[%at1, %c0, %c0] signal %full[%stage] shape [32, 16] : !S to !AtomsB signal !Bars
          %next = arith.addi %stage, %c1 : index
          %wraps = arith.cmpi eq, %next, %c3 : index
          %next_stage = arith.select %wraps, %c0, %next : index
          %next_parity = arith.xori %parity, %wraps : i1
          scf.yield %next_stage, %next_parity : index, i1
        }
        // Each commit has told its mbarrier before the CTA goes.
        scf.for %s = %c0 to %c3 step %c1 iter_args(%stage = %end#0, %parity = %end#1) -> (index, i1) {
          tile.barrier_wait %empty[%stage] parity %parity : !Bars
          %next = arith.addi %stage, %c1 : index
          %wraps = arith.cmpi eq, %next, %c3 : index
          %next_stage = arith.select %wraps, %c0, %next : index
          %next_parity = arith.xori %parity, %wraps : i1
          scf.yield %next_stage, %next_parity : index, i1
        }
      }
    }
    scf.if %is_multiplier {
      %issuer = nvvm.elect.sync -> i1
      scf.if %issuer {
        %end:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%stage = %c0, %parity = %false) -> (index, i1) {
          tile.barrier_wait %full[%stage] parity %parity : !Bars
          %at0 = arith.muli %stage, %c2 : index
          %at1 = arith.addi %at0, %c1 : index
          tile.tcgen05_cp %sa[%stage, %c0, %c0] to %sfa[%stage, %c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !AtomsA to !SFA
          tile.tcgen05_cp %sb[%at0, %c0, %c0] to %sfb[%stage, %c0, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !AtomsB to !SFB
          tile.tcgen05_cp %sb[%at1, %c0, %c0] to %sfb[%stage, %c128, %c0] {form = "tcgen05.cp.cta_group::1.32x128b.warpx4"} : !AtomsB to !SFB
          %adds = arith.cmpi ne, %k, %c0 : index
          tile.tcgen05_mma_scaled %a[%stage, %c0, %c0], %b[%stage, %c0, %c0], %d[%c0, %c0] scale %sfa[%stage, %c0, %c0], %sfb[%stage, %c0, %c0] if %adds {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SFA, !SFB
          tile.tcgen05_mma_scaled %a[%stage, %c0, %c32], %b[%stage, %c0, %c32], %d[%c0, %c0] scale %sfa[%stage, %c0, %c1], %sfb[%stage, %c0, %c1] if %true {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SFA, !SFB
          tile.tcgen05_mma_scaled %a[%stage, %c0, %c64], %b[%stage, %c0, %c64], %d[%c0, %c0] scale %sfa[%stage, %c0, %c2], %sfb[%stage, %c0, %c2] if %true {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SFA, !SFB
          tile.tcgen05_mma_scaled %a[%stage, %c0, %c96], %b[%stage, %c0, %c96], %d[%c0, %c0] scale %sfa[%stage, %c0, %c3], %sfb[%stage, %c0, %c3] if %true {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SFA, !SFB
          tile.tcgen05_commit %empty[%stage] : !Bars
          %next = arith.addi %stage, %c1 : index
          %wraps = arith.cmpi eq, %next, %c3 : index
          %next_stage = arith.select %wraps, %c0, %next : index
          %next_parity = arith.xori %parity, %wraps : i1
          scf.yield %next_stage, %next_parity : index, i1
        }
        tile.tcgen05_commit %done[%c0] : !Bar
      }
    }
    scf.if %is_storer {
      tile.barrier_wait %done[%c0] parity %false : !Bar
      tile.tcgen05_fence after
      // A warp reaches the lanes of its quarter: its number modulo 4.
      %quarter = arith.andi %warp, %c3 : index
      %first = arith.muli %quarter, %c32 : index
      scf.for %panel = %c0 to %c4 step %c1 {
        %left = arith.muli %panel, %c64 : index
        %right = arith.addi %left, %c32 : index
        %x0 = tile.tcgen05_ld %d[%first, %left] {form = "tcgen05.ld.sync.aligned.32x32b.x32.b32"} : !D -> !X
        %x1 = tile.tcgen05_ld %d[%first, %right] {form = "tcgen05.ld.sync.aligned.32x32b.x32.b32"} : !D -> !X
        %sums:2 = tile.tcgen05_wait_ld %x0, %x1 : !X, !X
        %y0 = tile.cast arith.truncf %sums#0 : !X to !Y
        %y1 = tile.cast arith.truncf %sums#1 : !X to !Y
        tile.store %y0, %c[%panel, %first, %c0] {vector = 8} : !Y, !C
        tile.store %y1, %c[%panel, %first, %c32] {vector = 8} : !Y, !C
      }
      // Each warp has its own 32 rows stored by TMA, in panels of 64 columns.
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.bar.warp.sync %lanes : i32
      %storer = nvvm.elect.sync -> i1
      scf.if %storer {
        %store_row = arith.addi %row, %first : index
        scf.for %panel = %c0 to %c4 step %c1 {
          %left = arith.muli %panel, %c64 : index
          %store_col = arith.addi %col, %left : index
          tile.tma_store %mc[%store_row, %store_col] from %c[%panel, %first, %c0] shape [32, 64] : !O from !C
        }
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
    }
    gpu.return
  }
}

// CHECK: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r{{[0-9]+}}], 512;
// CHECK-COUNT-3: tcgen05.cp.cta_group::1.32x128b.warpx4 [%r{{[0-9]+}}], %rd{{[0-9]+}};
// CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32 [%r{{[0-9]+}}], %rd{{[0-9]+}}, %rd{{[0-9]+}}, {{[0-9]+}}, [%r{{[0-9]+}}], [%r{{[0-9]+}}], %p{{[0-9]+}};
// CHECK-NOT: tcgen05.mma
// CHECK: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r{{[0-9]+}}, 512;
