// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
//
// C = A·Bᵀ of e4m3 to f16 on Blackwell, at level 3: a tile of 128x256 a CTA, 128 of K a step.
//
// It is `gemm.mlir` with elements of a byte: a step of 128 of K is a line of 128 bytes as there, and an
// instruction takes 32 of them. M, N and K may be anything whose rows are multiples of 16 bytes.
//
// Launch ceil(M / 128) CTAs along x, ceil(N / 256) along y, with A [M][K], B [N][K] and C [M][N].

!M = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!O = memref<?x?xf16, strided<[?, 1]>>
!A = memref<3x128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<3x256x128xf8E4M3FN, #tile.shared<"128B">>
!C = memref<4x128x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
!Bar = memref<1xi64, #tile.shared<"none">>
!D = memref<128x256xf32, #tile.tensor<"d">>
!X = !tile.frag<tensor<32x32xf32>, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 32">>
!Y = !tile.frag<tensor<32x32xf16>, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 32">>

gpu.module @blackwell [#nvvm.target<chip = "sm_100a">] {
  gpu.func @gemm(%ma: !M, %mb: !M, %mc: !O) kernel attributes {known_block_size = array<i32: 192, 1, 1>} {
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
    %d = tile.alloc_tensor : !D

    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %row = arith.muli %block_x, %c128 : index
    %col = arith.muli %block_y, %c256 : index
    %depth = memref.dim %ma, %c1 : !M
    %steps = arith.ceildivui %depth, %c128 : index
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
          tile.barrier_expect %full[%stage] bytes 49152 : !Bars
          tile.tma_load %ma[%row, %kcol] to %a[%stage, %c0, %c0] signal %full[%stage] shape [128, 128] : !M to !A signal !Bars
          tile.tma_load %mb[%col, %kcol] to %b[%stage, %c0, %c0] signal %full[%stage] shape [256, 128] : !M to !B signal !Bars
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
          %adds = arith.cmpi ne, %k, %c0 : index
          tile.tcgen05_mma %a[%stage, %c0, %c0], %b[%stage, %c0, %c0], %d[%c0, %c0] if %adds {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D
          tile.tcgen05_mma %a[%stage, %c0, %c32], %b[%stage, %c0, %c32], %d[%c0, %c0] if %true {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D
          tile.tcgen05_mma %a[%stage, %c0, %c64], %b[%stage, %c0, %c64], %d[%c0, %c0] if %true {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D
          tile.tcgen05_mma %a[%stage, %c0, %c96], %b[%stage, %c0, %c96], %d[%c0, %c0] if %true {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D
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

// CHECK: tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r{{[0-9]+}}], 256;
// CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::f8f6f4 [%r{{[0-9]+}}], %rd{{[0-9]+}}, %rd{{[0-9]+}}, 138412048, %p{{[0-9]+}};
// CHECK-NOT: tcgen05.mma
// CHECK-COUNT-2: tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK: tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r{{[0-9]+}}, 256;
