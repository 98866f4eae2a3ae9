// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps{enabled=false})' | FileCheck %s --check-prefix=OFF

// OFF-NOT: tile.tma_load

// Two boxes for B, whose lines are 64 elements; as many stages as fit, or as the loop says.

!Array = memref<?x?xf16, strided<[?, 1]>>
!Out = memref<?x?xf32>
!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!D = tensor<128x128xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-DAG: %[[A:.*]] = tile.alloc_shared : memref<3x1x128x64xf16, #tile.shared<"128B">>
  // CHECK-DAG: %[[B:.*]] = tile.alloc_shared : memref<3x2x64x64xf16, #tile.shared<"128B">>
  // CHECK: %[[FULL:.*]] = tile.alloc_shared : memref<3xi64
  // CHECK: %[[EMPTY:.*]] = tile.alloc_shared : memref<3xi64
  // CHECK: scf.if
  // CHECK: tile.barrier_init %[[FULL]][%{{.*}}] count 1
  // CHECK: tile.barrier_init %[[EMPTY]][%{{.*}}] count 8
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: gpu.barrier
  // CHECK: %[[GROUP:.*]] = tile.warpgroup_id
  // CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[GROUP]], %c2
  // CHECK-NEXT: scf.if %[[OWN]] {
  // CHECK-NEXT: nvvm.setmaxregister decrease 40
  // CHECK: nvvm.elect.sync
  // CHECK: scf.for
  // CHECK: tile.barrier_wait %[[EMPTY]]
  // CHECK-NEXT: tile.barrier_expect %[[FULL]][%{{.*}}] bytes 32768
  // CHECK: tile.tma_load %{{.*}} to %[[A]][{{.*}}] signal %[[FULL]][%{{.*}}] shape [128, 64]
  // CHECK: tile.tma_load %{{.*}} to %[[B]][{{.*}}] signal %[[FULL]][%{{.*}}] shape [64, 64]
  // CHECK: tile.tma_load %{{.*}} to %[[B]][{{.*}}] signal %[[FULL]][%{{.*}}] shape [64, 64]
  // CHECK: {tile.producer = array<i64: 384, 40, 232>}
  // CHECK: scf.for
  // CHECK: tile.barrier_wait %[[FULL]]
  // CHECK-NOT: tile.async_copy
  // CHECK: tile.warpgroup_dot %[[A]]
  // CHECK-NEXT: tile.barrier_arrive %[[EMPTY]][%{{.*}}] elected
  // WHY: remark: 'scf.for' op is split into roles: of 384 threads 256 compute, with 232 registers each, and one of the 128 others, with 40, loads boxes by TMA to a ring of 3 stages of 32768 bytes
  // WHY: remark: 'tile.async_copy' op is made by TMA, a box of 128x64 elements a round; elements outside the array are zeros
  // WHY: remark: 'tile.async_copy' op is made by TMA, 2 boxes of 64x64 elements a round; elements outside the array are zeros
  gpu.func @gemm(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 3 : i64}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // What keeps a loop as it is.
  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: its array is only known to begin at a multiple of 2 bytes, not of 16 (tile.aligned may guarantee more)
  gpu.func @unaligned(%a: !Array {tile.strides = array<i64: 8, 1>}, %b: !Array, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rows
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: its rows are only known to be a multiple of 8 bytes apart, not of 16 (tile.strides may guarantee more)
  gpu.func @rows(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>}, %b: !Array, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @threads
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: 'gpu.block_dim' may depend on which threads there are
  gpu.func @threads(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %threads = gpu.block_dim x
    %more = arith.addi %depth, %threads : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %more step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @thread_ids
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: 'gpu.thread_id' may depend on which threads there are
  gpu.func @thread_ids(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %thread = gpu.thread_id x
    %one = arith.constant 1.0 : f32
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    memref.store %one, %c[%thread, %c0] : memref<?x?xf32>
    gpu.return
  }

  // A wait for kernels before this one is for the thread that loads, too; what lets others begin is not.
  // CHECK-LABEL: gpu.func @dependent
  // CHECK: tile.warpgroup_id
  // CHECK: nvvm.elect.sync
  // CHECK-NOT: tile.tma_load
  // CHECK: nvvm.griddepcontrol {{.*}}wait
  // CHECK-COUNT-3: tile.tma_load
  // CHECK-NOT: tile.warpgroup_dot
  // CHECK: nvvm.griddepcontrol {{.*}}launch_dependents
  // CHECK: nvvm.griddepcontrol {{.*}}wait
  // CHECK: tile.warpgroup_dot
  // CHECK-NOT: nvvm.griddepcontrol
  // WHY: 'nvvm.griddepcontrol' op is also executed by the thread that loads
  gpu.func @dependent(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    nvvm.griddepcontrol launch_dependents
    nvvm.griddepcontrol wait
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // Behind the loop of a tile only what follows waits, the next tile among it.
  // CHECK-LABEL: gpu.func @dependent_tiles
  // CHECK: nvvm.elect.sync
  // CHECK-NOT: nvvm.griddepcontrol
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-COUNT-3: tile.tma_load
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: nvvm.griddepcontrol {{.*}}wait
  // CHECK-NEXT: scf.yield
  // CHECK: tile.warpgroup_dot
  // CHECK: nvvm.griddepcontrol {{.*}}wait
  gpu.func @dependent_tiles(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32> {llvm.noalias}, %depth: index, %rows: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    scf.for %row = %c0 to %rows step %c128 {
      %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%row, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      nvvm.griddepcontrol wait
      tile.store %r, %c[%row, %c0] masked : !D, memref<?x?xf32>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @machine
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: 'tile.inline_asm_volatile' may depend on which threads there are
  gpu.func @machine(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    %met = tile.inline_asm_volatile "bar.sync 0; mov.b32 $0, $1;", "=r,r" (%r) : (!D) -> (!D)
    tile.store %met, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @written
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: the copied data may be written before it
  gpu.func @written(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %first = tile.load %b[%c0, %c0] masked : !Array -> !A
    %twice = arith.addf %first, %first : !A
    tile.store %twice, %a[%c0, %c0] masked : !A, !Array
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_warpgroup
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: only 1 warpgroup would compute, fewer than 2
  gpu.func @one_warpgroup(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // What different products read is full, and empty again, by itself: the first need not wait for
  // what only the second reads.
  // CHECK-LABEL: gpu.func @two_products
  // CHECK: %[[FULL:.*]] = tile.alloc_shared : memref<4xi64
  // CHECK: %[[EMPTY:.*]] = tile.alloc_shared : memref<4xi64
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: scf.for
  // CHECK: tile.barrier_wait %[[EMPTY]]
  // CHECK-NEXT: tile.barrier_expect %[[FULL]][%{{.*}}] bytes 24576
  // CHECK: tile.tma_load %{{.*}} shape [128, 64]
  // CHECK: tile.barrier_wait %[[EMPTY]]
  // CHECK-NEXT: tile.barrier_expect %[[FULL]][%{{.*}}] bytes 8192
  // CHECK: tile.tma_load %{{.*}} shape [64, 64]
  // CHECK: scf.for
  // CHECK: %[[STAGE:.*]] = arith.index_castui
  // CHECK: tile.barrier_wait %[[FULL]][%[[STAGE]]]
  // CHECK: tile.warpgroup_dot {{.*}}a::descriptor
  // CHECK: tile.barrier_arrive %[[EMPTY]][%[[STAGE]]]
  // CHECK: %[[SECOND:.*]] = arith.addi %[[STAGE]], %c2
  // CHECK: tile.barrier_wait %[[FULL]][%[[SECOND]]]
  // CHECK-NEXT: tile.warpgroup_dot {{.*}}a::registers
  // CHECK: tile.barrier_arrive %[[EMPTY]]
  gpu.func @two_products(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %v: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<128x64xf32>) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> tensor<64x64xf16>
      %one = tile.dot %ta, %tb, %zero : !A, tensor<64x64xf16>, tensor<128x64xf32>
      %p = arith.truncf %one : tensor<128x64xf32> to !A
      %tv = tile.load %v[%k, %c0] masked : !Array -> tensor<64x64xf16>
      %next = tile.dot %p, %tv, %sum : !A, tensor<64x64xf16>, tensor<128x64xf32>
      scf.yield %next : tensor<128x64xf32>
    } {tile.stages = 2 : i64}
    tile.store %r, %c[%c0, %c0] masked : tensor<128x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // A loop over tiles: the ring goes on from one to the next, on both sides.
  // CHECK-LABEL: gpu.func @tiles
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: scf.for %[[TILE:.*]] = %block_id_x to %arg3 step %grid_dim_x iter_args(%[[WORD:.*]] = %c0_i32{{.*}}, %[[PARITY:.*]] = %true) -> (i32, i1) {
  // CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[TILE]], %c128
  // CHECK-NEXT: %[[ON:.*]]:2 = scf.for {{.*}} iter_args({{.*}} = %[[WORD]], {{.*}} = %[[PARITY]]) -> (i32, i1) {
  // CHECK: tile.tma_load %arg0[%[[ROW]],
  // CHECK: scf.yield %[[ON]]#0, %[[ON]]#1
  // CHECK: scf.for {{.*}} = %block_id_x to %arg3 step %grid_dim_x iter_args(%[[WORD:.*]] = %c0_i32{{.*}}, %[[PARITY:.*]] = %false{{.*}}) -> (i32, i1) {
  // CHECK: %[[ON:.*]]:3 = scf.for {{.*}} iter_args({{.*}}, {{.*}} = %[[WORD]], {{.*}} = %[[PARITY]])
  // CHECK: tile.warpgroup_dot
  // CHECK: tile.store %[[ON]]#0
  // CHECK: scf.yield %[[ON]]#1, %[[ON]]#2
  gpu.func @tiles(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %tiles: index, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %first = gpu.block_id x
    %ctas = gpu.grid_dim x
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    scf.for %tile = %first to %tiles step %ctas {
      %row = arith.muli %tile, %c128 : index
      %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<128x64xf32>) {
        %ta = tile.load %a[%row, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> tensor<64x64xf16>
        %next = tile.dot %ta, %tb, %sum : !A, tensor<64x64xf16>, tensor<128x64xf32>
        scf.yield %next : tensor<128x64xf32>
      } {tile.stages = 2 : i64}
      tile.store %r, %c[%row, %c0] masked : tensor<128x64xf32>, !Out
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tiles_alike
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: the copied data may be written by the previous tile
  gpu.func @tiles_alike(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out, %tiles: index, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %first = gpu.block_id x
    %ctas = gpu.grid_dim x
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    scf.for %tile = %first to %tiles step %ctas {
      %row = arith.muli %tile, %c128 : index
      %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<128x64xf32>) {
        %ta = tile.load %a[%row, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> tensor<64x64xf16>
        %next = tile.dot %ta, %tb, %sum : !A, tensor<64x64xf16>, tensor<128x64xf32>
        scf.yield %next : tensor<128x64xf32>
      } {tile.stages = 2 : i64}
      tile.store %r, %c[%row, %c0] masked : tensor<128x64xf32>, !Out
    }
    gpu.return
  }

  // CTAs leave out the loop by what all threads load at the top; so does the thread that loads tiles.
  // CHECK-LABEL: gpu.func @guarded
  // CHECK: %[[LOADED:.*]] = tile.load %arg3
  // CHECK: %[[NUMBER:.*]] = tile.reduce arith.maxsi %[[LOADED]]
  // CHECK: %[[FIRST:.*]] = arith.index_cast %[[NUMBER]]
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[FIRST]], %arg4
  // CHECK: tile.barrier_init
  // CHECK: gpu.barrier
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: nvvm.elect.sync
  // CHECK: scf.if %[[SOME]]
  // CHECK: %[[END:.*]] = arith.subi %arg4, %[[FIRST]]
  // CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[END]]
  // CHECK: tile.tma_load %arg0[%[[FIRST]], %[[K]]]
  // CHECK: tile.tma_load %arg1
  // CHECK: tile.producer
  // CHECK: scf.if %[[SOME]]
  // CHECK: scf.for
  // CHECK: tile.barrier_wait
  // CHECK: tile.warpgroup_dot
  // CHECK: tile.barrier_arrive
  // WHY: is split into roles
  gpu.func @guarded(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32> {llvm.noalias}, %starts: memref<?xi32> {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %one = arith.constant dense<1> : tensor<1xi32>
    %place = gpu.block_id z
    %loaded = tile.load %starts[%place] masked : memref<?xi32> -> tensor<1xi32>
    %number = tile.reduce arith.maxsi %loaded axis 0 : tensor<1xi32> -> i32
    %first = arith.index_cast %number : i32 to index
    %some = arith.cmpi slt, %first, %depth : index
    scf.if %some {
      %end = arith.subi %depth, %first : index
      %r = scf.for %k = %c0 to %end step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%first, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      tile.store %r, %c[%first, %c0] masked : !D, memref<?x?xf32>
    }
    gpu.return
  }

  // The number may not be loaded before it is written.
  // CHECK-LABEL: gpu.func @number_written
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: bounds or indices are not computed from block numbers, arguments and numbers that the kernel loads at its top alone
  gpu.func @number_written(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32> {llvm.noalias}, %starts: memref<?xi32> {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %one = arith.constant dense<1> : tensor<1xi32>
    %place = gpu.block_id z
    tile.store %one, %starts[%place] masked : tensor<1xi32>, memref<?xi32>
    gpu.barrier
    %loaded = tile.load %starts[%place] masked : memref<?xi32> -> tensor<1xi32>
    %number = tile.reduce arith.maxsi %loaded axis 0 : tensor<1xi32> -> i32
    %first = arith.index_cast %number : i32 to index
    %some = arith.cmpi slt, %first, %depth : index
    scf.if %some {
      %end = arith.subi %depth, %first : index
      %r = scf.for %k = %c0 to %end step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%first, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      tile.store %r, %c[%first, %c0] masked : !D, memref<?x?xf32>
    }
    gpu.return
  }

  // What CTAs that leave out the loop do instead they would not do with all their threads.
  // CHECK-LABEL: gpu.func @other_branch
  // CHECK-NOT: tile.tma_load
  // WHY: is not split into warps that load and warps that compute: it stands in 'scf.if', neither at the top of the kernel nor in a loop over tiles there
  gpu.func @other_branch(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32> {llvm.noalias}, %starts: memref<?xi32> {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %one = arith.constant dense<1> : tensor<1xi32>
    %place = gpu.block_id z
    %loaded = tile.load %starts[%place] masked : memref<?xi32> -> tensor<1xi32>
    %number = tile.reduce arith.maxsi %loaded axis 0 : tensor<1xi32> -> i32
    %first = arith.index_cast %number : i32 to index
    %some = arith.cmpi slt, %first, %depth : index
    scf.if %some {
      %end = arith.subi %depth, %first : index
      %r = scf.for %k = %c0 to %end step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%first, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      tile.store %r, %c[%first, %c0] masked : !D, memref<?x?xf32>
    } else {
      tile.store %zero, %c[%first, %c0] masked : !D, memref<?x?xf32>
    }
    gpu.return
  }
}
