// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=LOAD
//
// C = A·Bᵀ in f16 on Hopper, at level 3, by clusters: a tile of 128x128 a CTA, 64 of K a step, four
// stages; the two CTAs of a cluster, which lie along M, share their columns of B.
//
// Each CTA loads its rows of A and one half of the rows of B, the half by multicast: it arrives in
// both CTAs. So `full` of a stage counts in each CTA the bytes that come from both, and `empty` the
// warps of both that have read the stage, for a load overwrites it in both. Nobody signals a CTA before
// a barrier of the cluster shows that its mbarriers are there, and none leaves before another shows
// that nobody signals it any more. The result goes panel by panel through one buffer: it is written
// again when the TMA store of the panel before has read it.
//
// Launch 2·ceil(M / 256) CTAs along x, ceil(N / 128) along y, with A [M][K], B [N][K] and C [M][N].

!M = memref<?x?xf16, strided<[?, 1]>>
!A = memref<4x128x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!C = memref<128x64xf16, #tile.shared<"128B">>
!Bars = memref<4xi64, #tile.shared<"none">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!X = !tile.frag<tensor<16x16xf32>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!Y = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>

gpu.module @hopper [#nvvm.target<chip = "sm_90a">] {
  gpu.func @gemm(%ma: !M, %mb: !M, %mc: !M) kernel attributes {
      known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %both = arith.constant 3 : index
    %consumers = arith.constant 1 : i32
    %their_threads = arith.constant 256 : i32
    %true = arith.constant true
    %false = arith.constant false
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %c = tile.alloc_shared : !C
    %full = tile.alloc_shared : !Bars
    %empty = tile.alloc_shared : !Bars

    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %rank = gpu.cluster_block_id x
    %row = arith.muli %block_x, %c128 : index
    %col = arith.muli %block_y, %c128 : index
    %half = arith.muli %rank, %c64 : index
    %half_col = arith.addi %col, %half : index
    %depth = memref.dim %ma, %c1 : !M
    %steps = arith.ceildivui %depth, %c64 : index
    %thread = gpu.thread_id x
    %group = tile.warpgroup_id

    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {
      scf.for %s = %c0 to %c4 step %c1 {
        tile.barrier_init %full[%s] count 1 : !Bars
        // One lane of each of the eight warps of the consumers of both CTAs.
        tile.barrier_init %empty[%s] count 16 : !Bars
      }
      nvvm.fence.mbarrier.init
    }
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}

    %is_producer = arith.cmpi eq, %group, %c0 : index
    scf.if %is_producer {
      nvvm.setmaxregister decrease 40
      %is_warp_0 = arith.cmpi ult, %thread, %c32 : index
      scf.if %is_warp_0 {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          %end:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%stage = %c0, %parity = %true) -> (index, i1) {
            %kcol = arith.muli %k, %c64 : index
            tile.barrier_wait %empty[%stage] parity %parity cluster : !Bars
            tile.barrier_expect %full[%stage] bytes 32768 : !Bars
            tile.tma_load %ma[%row, %kcol] to %a[%stage, %c0, %c0] signal %full[%stage] shape [128, 64] : !M to !A signal !Bars
            tile.tma_load %mb[%half_col, %kcol] to %b[%stage, %half, %c0] signal %full[%stage] multicast %both shape [64, 64] : !M to !B signal !Bars
            %next = arith.addi %stage, %c1 : index
            %wraps = arith.cmpi eq, %next, %c4 : index
            %next_stage = arith.select %wraps, %c0, %next : index
            %next_parity = arith.xori %parity, %wraps : i1
            scf.yield %next_stage, %next_parity : index, i1
          }
        }
      }
    } else {
      nvvm.setmaxregister increase 232
      %consumer = arith.subi %group, %c1 : index
      %group_row = arith.muli %consumer, %c64 : index
      %zero = tile.accumulator : !D
      %d:3 = scf.for %k = %c0 to %steps step %c1 iter_args(%sum = %zero, %stage = %c0, %parity = %false) -> (!D, index, i1) {
        tile.barrier_wait %full[%stage] parity %parity : !Bars
        %d0 = tile.wgmma_fence %sum : !D
        %d1 = tile.wgmma %a[%stage, %group_row, %c0], %b[%stage, %c0, %c0], %d0 if %true {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        %d2 = tile.wgmma %a[%stage, %group_row, %c16], %b[%stage, %c0, %c16], %d1 if %true {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        %d3 = tile.wgmma %a[%stage, %group_row, %c32], %b[%stage, %c0, %c32], %d2 if %true {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        %d4 = tile.wgmma %a[%stage, %group_row, %c48], %b[%stage, %c0, %c48], %d3 if %true {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        tile.wgmma_commit
        %done = tile.wgmma_wait 0 %d4 : !D
        %one = nvvm.elect.sync -> i1
        scf.if %one {
          tile.barrier_arrive %empty[%stage] of %c0 : !Bars
          tile.barrier_arrive %empty[%stage] of %c1 : !Bars
        }
        %next = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %next, %c4 : index
        %next_stage = arith.select %wraps, %c0, %next : index
        %next_parity = arith.xori %parity, %wraps : i1
        scf.yield %done, %next_stage, %next_parity : !D, index, i1
      }

      %warp = arith.shrui %thread, %c5 : index
      %warp_in_group = arith.andi %warp, %c3 : index
      %in_group = arith.muli %warp_in_group, %c16 : index
      %warp_row = arith.addi %group_row, %in_group : index
      %store_row = arith.addi %row, %group_row : index
      %is_group_warp_0 = arith.cmpi eq, %warp_in_group, %c0 : index
      %x0 = tile.warp_part %d#0 column 0 : !D -> !X
      %y0 = tile.cast arith.truncf %x0 : !X to !Y
      tile.stmatrix %y0, %c[%warp_row, %c0] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      %x16 = tile.warp_part %d#0 column 16 : !D -> !X
      %y16 = tile.cast arith.truncf %x16 : !X to !Y
      tile.stmatrix %y16, %c[%warp_row, %c16] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      %x32 = tile.warp_part %d#0 column 32 : !D -> !X
      %y32 = tile.cast arith.truncf %x32 : !X to !Y
      tile.stmatrix %y32, %c[%warp_row, %c32] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      %x48 = tile.warp_part %d#0 column 48 : !D -> !X
      %y48 = tile.cast arith.truncf %x48 : !X to !Y
      tile.stmatrix %y48, %c[%warp_row, %c48] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.barrier id = %consumers number_of_threads = %their_threads
      scf.if %is_group_warp_0 {
        %storer = nvvm.elect.sync -> i1
        scf.if %storer {
          tile.tma_store %mc[%store_row, %col] from %c[%group_row, %c0] shape [64, 64] : !M from !C
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
      }
      nvvm.barrier id = %consumers number_of_threads = %their_threads

      // The other 64 columns, through the same buffer.
      %col_64 = arith.addi %col, %c64 : index
      %x64 = tile.warp_part %d#0 column 64 : !D -> !X
      %y64 = tile.cast arith.truncf %x64 : !X to !Y
      tile.stmatrix %y64, %c[%warp_row, %c0] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      %x80 = tile.warp_part %d#0 column 80 : !D -> !X
      %y80 = tile.cast arith.truncf %x80 : !X to !Y
      tile.stmatrix %y80, %c[%warp_row, %c16] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      %x96 = tile.warp_part %d#0 column 96 : !D -> !X
      %y96 = tile.cast arith.truncf %x96 : !X to !Y
      tile.stmatrix %y96, %c[%warp_row, %c32] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      %x112 = tile.warp_part %d#0 column 112 : !D -> !X
      %y112 = tile.cast arith.truncf %x112 : !X to !Y
      tile.stmatrix %y112, %c[%warp_row, %c48] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !Y, !C
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.barrier id = %consumers number_of_threads = %their_threads
      scf.if %is_group_warp_0 {
        %storer = nvvm.elect.sync -> i1
        scf.if %storer {
          tile.tma_store %mc[%store_row, %col_64] from %c[%group_row, %c0] shape [64, 64] : !M from !C
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        }
      }
    }
    // Until here the other CTA may signal this one's mbarriers, and send it B.
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    gpu.return
  }
}

// CHECK: .param .align 128 .b8 gemm_param_{{[0-9]+}}[128]
// CHECK: .reqnctapercluster 2, 1, 1
// CHECK: fence.mbarrier_init.release.cluster;
// CHECK: barrier.cluster.arrive.aligned;
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: mapa.shared::cluster.u32
// CHECK: mbarrier.arrive.release.cluster.shared::cluster.b64
// CHECK: cp.async.bulk.wait_group.read 0;
// CHECK: cp.async.bulk.wait_group 0;
// CHECK: barrier.cluster.wait.aligned;

// LOAD: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64
// LOAD: mbarrier.arrive.expect_tx.release.cta.shared::cta.b64
// LOAD: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
// LOAD: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
