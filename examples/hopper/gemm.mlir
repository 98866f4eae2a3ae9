// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: FileCheck %s --input-file %t.ptx --check-prefix=LOAD
//
// C = A·Bᵀ in f16 on Hopper, at level 3: a tile of 128x256 a CTA, 64 of K a step, three stages.
//
// 384 threads are three warpgroups. One thread of the first copies boxes of A and B to shared memory
// by TMA; the others multiply 64 rows each. An mbarrier `full` of a stage says that its boxes are
// there, `empty` that both consumers have read them. The result goes through shared memory to TMA
// stores. M, N and K may be anything whose rows are multiples of 16 bytes: what lies outside an array
// is zero when loaded, and is not stored.
//
// Launch ceil(M / 128) CTAs along x, ceil(N / 256) along y, with A [M][K], B [N][K] and C [M][N].

!M = memref<?x?xf16, strided<[?, 1]>>
!A = memref<3x128x64xf16, #tile.shared<"128B">>
!B = memref<3x256x64xf16, #tile.shared<"128B">>
!C = memref<4x128x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>
!D = !tile.frag<tensor<64x256xf32>, #tile.layout<"m64n256k16 d f32">>
!X = !tile.frag<tensor<16x16xf32>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!Y = !tile.frag<tensor<16x16xf16>, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>

gpu.module @hopper [#nvvm.target<chip = "sm_90a">] {
  gpu.func @gemm(%ma: !M, %mb: !M, %mc: !M) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c192 = arith.constant 192 : index
    %c256 = arith.constant 256 : index
    %c5 = arith.constant 5 : index
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
    %row = arith.muli %block_x, %c128 : index
    %col = arith.muli %block_y, %c256 : index
    %depth = memref.dim %ma, %c1 : !M
    %steps = arith.ceildivui %depth, %c64 : index
    %thread = gpu.thread_id x
    %group = tile.warpgroup_id

    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {
      scf.for %s = %c0 to %c3 step %c1 {
        tile.barrier_init %full[%s] count 1 : !Bars
        // One lane of each of the consumers' eight warps.
        tile.barrier_init %empty[%s] count 8 : !Bars
      }
      nvvm.fence.mbarrier.init
    }
    gpu.barrier

    %is_producer = arith.cmpi eq, %group, %c0 : index
    scf.if %is_producer {
      nvvm.setmaxregister decrease 40
      %is_warp_0 = arith.cmpi ult, %thread, %c32 : index
      scf.if %is_warp_0 {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          // The phase before the first counts as ended: the first three waits end at once.
          %end:2 = scf.for %k = %c0 to %steps step %c1 iter_args(%stage = %c0, %parity = %true) -> (index, i1) {
            %kcol = arith.muli %k, %c64 : index
            tile.barrier_wait %empty[%stage] parity %parity : !Bars
            tile.barrier_expect %full[%stage] bytes 49152 : !Bars
            tile.tma_load %ma[%row, %kcol] to %a[%stage, %c0, %c0] signal %full[%stage] shape [128, 64] : !M to !A signal !Bars
            tile.tma_load %mb[%col, %kcol] to %b[%stage, %c0, %c0] signal %full[%stage] shape [256, 64] : !M to !B signal !Bars
            %next = arith.addi %stage, %c1 : index
            %wraps = arith.cmpi eq, %next, %c3 : index
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
        %d1 = tile.wgmma %a[%stage, %group_row, %c0], %b[%stage, %c0, %c0], %d0 if %true {form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        %d2 = tile.wgmma %a[%stage, %group_row, %c16], %b[%stage, %c0, %c16], %d1 if %true {form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        %d3 = tile.wgmma %a[%stage, %group_row, %c32], %b[%stage, %c0, %c32], %d2 if %true {form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        %d4 = tile.wgmma %a[%stage, %group_row, %c48], %b[%stage, %c0, %c48], %d3 if %true {form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
        tile.wgmma_commit
        %done = tile.wgmma_wait 0 %d4 : !D
        %one = nvvm.elect.sync -> i1
        scf.if %one {
          tile.barrier_arrive %empty[%stage] : !Bars
        }
        %next = arith.addi %stage, %c1 : index
        %wraps = arith.cmpi eq, %next, %c3 : index
        %next_stage = arith.select %wraps, %c0, %next : index
        %next_parity = arith.xori %parity, %wraps : i1
        scf.yield %done, %next_stage, %next_parity : !D, index, i1
      }

      // Through shared memory, in panels of 64 columns, which TMA stores.
      %warp = arith.shrui %thread, %c5 : index
      %warp_in_group = arith.andi %warp, %c3 : index
      %in_group = arith.muli %warp_in_group, %c16 : index
      %warp_row = arith.addi %group_row, %in_group : index
      %x0 = tile.warp_part %d#0 column 0 : !D -> !X
      %y0 = tile.cast arith.truncf %x0 : !X to !Y
      tile.stmatrix %y0, %c[%c0, %warp_row, %c0] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x16 = tile.warp_part %d#0 column 16 : !D -> !X
      %y16 = tile.cast arith.truncf %x16 : !X to !Y
      tile.stmatrix %y16, %c[%c0, %warp_row, %c16] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x32 = tile.warp_part %d#0 column 32 : !D -> !X
      %y32 = tile.cast arith.truncf %x32 : !X to !Y
      tile.stmatrix %y32, %c[%c0, %warp_row, %c32] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x48 = tile.warp_part %d#0 column 48 : !D -> !X
      %y48 = tile.cast arith.truncf %x48 : !X to !Y
      tile.stmatrix %y48, %c[%c0, %warp_row, %c48] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x64 = tile.warp_part %d#0 column 64 : !D -> !X
      %y64 = tile.cast arith.truncf %x64 : !X to !Y
      tile.stmatrix %y64, %c[%c1, %warp_row, %c0] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x80 = tile.warp_part %d#0 column 80 : !D -> !X
      %y80 = tile.cast arith.truncf %x80 : !X to !Y
      tile.stmatrix %y80, %c[%c1, %warp_row, %c16] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x96 = tile.warp_part %d#0 column 96 : !D -> !X
      %y96 = tile.cast arith.truncf %x96 : !X to !Y
      tile.stmatrix %y96, %c[%c1, %warp_row, %c32] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x112 = tile.warp_part %d#0 column 112 : !D -> !X
      %y112 = tile.cast arith.truncf %x112 : !X to !Y
      tile.stmatrix %y112, %c[%c1, %warp_row, %c48] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x128 = tile.warp_part %d#0 column 128 : !D -> !X
      %y128 = tile.cast arith.truncf %x128 : !X to !Y
      tile.stmatrix %y128, %c[%c2, %warp_row, %c0] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x144 = tile.warp_part %d#0 column 144 : !D -> !X
      %y144 = tile.cast arith.truncf %x144 : !X to !Y
      tile.stmatrix %y144, %c[%c2, %warp_row, %c16] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x160 = tile.warp_part %d#0 column 160 : !D -> !X
      %y160 = tile.cast arith.truncf %x160 : !X to !Y
      tile.stmatrix %y160, %c[%c2, %warp_row, %c32] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x176 = tile.warp_part %d#0 column 176 : !D -> !X
      %y176 = tile.cast arith.truncf %x176 : !X to !Y
      tile.stmatrix %y176, %c[%c2, %warp_row, %c48] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x192 = tile.warp_part %d#0 column 192 : !D -> !X
      %y192 = tile.cast arith.truncf %x192 : !X to !Y
      tile.stmatrix %y192, %c[%c3, %warp_row, %c0] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x208 = tile.warp_part %d#0 column 208 : !D -> !X
      %y208 = tile.cast arith.truncf %x208 : !X to !Y
      tile.stmatrix %y208, %c[%c3, %warp_row, %c16] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x224 = tile.warp_part %d#0 column 224 : !D -> !X
      %y224 = tile.cast arith.truncf %x224 : !X to !Y
      tile.stmatrix %y224, %c[%c3, %warp_row, %c32] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      %x240 = tile.warp_part %d#0 column 240 : !D -> !X
      %y240 = tile.cast arith.truncf %x240 : !X to !Y
      tile.stmatrix %y240, %c[%c3, %warp_row, %c48] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
          : !Y, !C
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.barrier id = %consumers number_of_threads = %their_threads
      %is_group_warp_0 = arith.cmpi eq, %warp_in_group, %c0 : index
      scf.if %is_group_warp_0 {
        %storer = nvvm.elect.sync -> i1
        scf.if %storer {
          %store_row = arith.addi %row, %group_row : index
          %n0 = arith.addi %col, %c0 : index
          %n1 = arith.addi %col, %c64 : index
          %n2 = arith.addi %col, %c128 : index
          %n3 = arith.addi %col, %c192 : index
          tile.tma_store %mc[%store_row, %n0] from %c[%c0, %group_row, %c0] shape [64, 64]
              : !M from !C
          tile.tma_store %mc[%store_row, %n1] from %c[%c1, %group_row, %c0] shape [64, 64]
              : !M from !C
          tile.tma_store %mc[%store_row, %n2] from %c[%c2, %group_row, %c0] shape [64, 64]
              : !M from !C
          tile.tma_store %mc[%store_row, %n3] from %c[%c3, %group_row, %c0] shape [64, 64]
              : !M from !C
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        }
      }
    }
    gpu.return
  }
}

// Four products and one wait a step; maps by value.
// CHECK: .param .align 128 .b8 gemm_param_{{[0-9]+}}[128]
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK: wgmma.fence
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-NOT: wgmma.wait_group
// CHECK-COUNT-16: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: fence.proxy.async.shared::cta;
// CHECK-COUNT-4: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group

// LOAD: setmaxnreg.dec.sync.aligned.u32 40;
// LOAD: mbarrier.arrive.expect_tx.release.cta.shared::cta.b64
// LOAD-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
