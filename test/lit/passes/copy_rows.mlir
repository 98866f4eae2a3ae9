// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-mma,tile-assign-layouts,tile-stage-shared,tile-pipeline,tile-copy-rows)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-mma,tile-assign-layouts,tile-stage-shared,tile-pipeline,tile-copy-rows{enabled=false})' | FileCheck %s --check-prefix=OFF

// Rows at indices, copied by TMA. The number of each row goes through shared memory to the eight
// threads that copy four rows each; -1, where the mask leaves a row out, is outside of any array.

!Array = memref<?x?xf16, strided<[?, 1]>>
!A = tensor<32x64xf16>
!B = tensor<64x64xf16>
!D = tensor<32x64xf32>

// OFF-LABEL: gpu.func @in_a_loop
// OFF-NOT: tma_
// OFF-LABEL: gpu.func @from_rows_to_rows
// OFF: tile.tma_gather
// OFF-NOT: tma_
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // In each round of the loop the rows of the next are copied: two stages, an mbarrier each, and
  // the parity that each waits for.
  // CHECK-LABEL: gpu.func @in_a_loop
  // CHECK-DAG: %[[BUFFER:.*]] = tile.alloc_shared : memref<2x1x32x64xf16, #tile.shared<"128B">>
  // CHECK-DAG: %[[FULL:.*]] = tile.alloc_shared : memref<2xi64, #tile.shared<"none">>
  // CHECK-DAG: %[[ROWS:.*]] = tile.alloc_shared : memref<32xi32, #gpu.address_space<workgroup>>
  // CHECK-DAG: tile.barrier_init %[[FULL]][%c0{{.*}}] count 8
  // CHECK-DAG: tile.barrier_init %[[FULL]][%c1{{.*}}] count 8
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: gpu.barrier
  // CHECK: %[[NOWHERE:.*]] = tile.fill %c-1_i32
  // CHECK: %[[NUMBERS:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NOWHERE]]
  // CHECK: tile.store %[[NUMBERS]], %[[ROWS]]
  // CHECK: gpu.barrier
  // CHECK: scf.if
  // CHECK: memref.load %[[ROWS]]
  // CHECK: tile.barrier_expect %[[FULL]][%{{.*}}] bytes 512
  // CHECK: tile.tma_gather %arg0[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] to %[[BUFFER]]
  // CHECK: scf.for
  // CHECK: gpu.barrier
  // CHECK: tile.tma_gather %arg0
  // CHECK: tile.barrier_wait %[[FULL]]
  // CHECK: %[[TILE:.*]] = tile.load %[[BUFFER]][{{.*}}] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
  // CHECK: tile.dot %[[TILE]]
  // WHY: 'tile.gather' op copies 32 rows by TMA, four with an instruction, through 1 panel of 64 elements a row in shared memory, swizzled as 128B; each round copies those of the next
  gpu.func @in_a_loop(%x: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array, %rows: memref<?xi32>, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %none = arith.constant dense<7> : tensor<32xi32>
    %at = tile.load %rows[%c0] masked : memref<?xi32> -> tensor<32xi32>
    %kept = arith.cmpi ne, %at, %none : tensor<32xi32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %column = tile.expand %at axis 1 : tensor<32xi32> -> tensor<32x1xi32>
      %each = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x64xi32>
      %which = tile.expand %kept axis 1 : tensor<32xi1> -> tensor<32x1xi1>
      %where = tile.broadcast %which : tensor<32x1xi1> -> tensor<32x64xi1>
      %ta = tile.gather %x[%c0, %k] along [0] by %each where %where masked : !Array by tensor<32x64xi32> where tensor<32x64xi1> -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // What no product takes is copied if the program says so, and a scatter to an array of its own.
  // CHECK-LABEL: gpu.func @from_rows_to_rows
  // CHECK: tile.tma_gather %arg0
  // CHECK: %[[TILE:.*]] = tile.load
  // CHECK: tile.store %{{.*}}, %{{.*}} : tensor<32xi32
  // CHECK: tile.store %[[TILE]], %[[PANELS:[a-z0-9_]+]][
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: gpu.barrier
  // CHECK: scf.if
  // CHECK: tile.tma_scatter %arg1[{{.*}}] from %[[PANELS]][
  // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0
  // WHY: 'tile.gather' op copies 32 rows by TMA, four with an instruction, through 1 panel of 64 elements a row in shared memory, swizzled as 128B [
  // WHY: 'tile.scatter' op copies 32 rows by TMA
  gpu.func @from_rows_to_rows(%x: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %y: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>}, %rows: memref<?xi32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %at = tile.load %rows[%c0] masked : memref<?xi32> -> tensor<32xi32>
    %column = tile.expand %at axis 1 : tensor<32xi32> -> tensor<32x1xi32>
    %each = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x64xi32>
    %t = tile.gather %x[%c0, %c0] along [0] by %each masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> -> !A
    tile.scatter %t, %y[%c0, %c0] along [0] by %each masked : !A, !Array by tensor<32x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @declined
  // CHECK-NOT: tma_
  // WHY: 'tile.gather' op does not copy rows by TMA: its indices have 64 bits, and coordinates of tensor copies 32: cast them to i32 if they fit
  // WHY: 'tile.gather' op does not copy rows by TMA: its mask is not known to be the same in all elements of a row
  // WHY: 'tile.gather' op does not copy rows by TMA: its rows do not begin at index 0, so that their numbers may exceed 32 bits
  // WHY: 'tile.gather' op does not copy rows by TMA: the elements of a row are not known to have one index
  // WHY: 'tile.gather' op does not copy rows by TMA: each element has a place of its own, or each column; TMA moves whole rows
  // WHY: 'tile.gather' op does not copy rows by TMA: its array is only known to begin at a multiple of 2 bytes, not of 16
  // WHY: 'tile.gather' op does not copy rows by TMA: the kernel may write its array
  // WHY: 'tile.gather' op does not copy rows by TMA: its tile has 32 lines of 16 bytes in memory; lines are multiples of 32 bytes
  // WHY: 'tile.gather' op does not copy rows by TMA: not all threads of the CTA reach it
  // WHY: 'tile.scatter' op does not copy rows by TMA: rows are not known to be multiples of 16 bytes long (tile.sizes may say so)
  // WHY: 'tile.scatter' op does not copy rows by TMA: something else may access its array
  gpu.func @declined(%x: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %odd: !Array {llvm.noalias}, %y: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %z: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>}, %rows: memref<?xi32>, %some: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %at = tile.load %rows[%c0] masked : memref<?xi32> -> tensor<32xi32>
    %column = tile.expand %at axis 1 : tensor<32xi32> -> tensor<32x1xi32>
    %each = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x64xi32>
    %wide = arith.extsi %each : tensor<32x64xi32> to tensor<32x64xi64>
    %long = arith.muli %wide, %wide : tensor<32x64xi64>
    %line = tile.expand %long axis 2 : tensor<32x64xi64> -> tensor<32x64x1xi64>
    %own = arith.muli %each, %each : tensor<32x64xi32>
    %which = arith.cmpi ne, %each, %own : tensor<32x64xi32>
    %at64 = arith.extui %at : tensor<32xi32> to tensor<32xi64>
    %column64 = tile.expand %at64 axis 1 : tensor<32xi64> -> tensor<32x1xi64>
    %each64 = tile.broadcast %column64 : tensor<32x1xi64> -> tensor<32x64xi64>
    %0 = tile.gather %x[%c0, %c0] along [0] by %each64 masked {tile.copy_rows = true} : !Array by tensor<32x64xi64> -> !A
    %1 = tile.gather %x[%c0, %c0] along [0] by %each where %which masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> where tensor<32x64xi1> -> !A
    %2 = tile.gather %x[%some, %c0] along [0] by %each masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> -> !A
    %3 = tile.gather %x[%c0, %c0] along [0] by %own masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> -> !A
    %4 = tile.gather %x[%c0, %c0] along [0, 1] by %each, %each masked {tile.copy_rows = true} : !Array by tensor<32x64xi32>, tensor<32x64xi32> -> !A
    %5 = tile.gather %odd[%c0, %c0] along [0] by %each masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> -> !A
    %6 = tile.gather %y[%c0, %c0] along [0] by %each masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> -> !A
    %few = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x8xi32>
    %7 = tile.gather %x[%c0, %c0] along [0] by %few masked {tile.copy_rows = true} : !Array by tensor<32x8xi32> -> tensor<32x8xf16>
    %thread = gpu.thread_id x
    %is_first = arith.cmpi ult, %thread, %some : index
    scf.if %is_first {
      %8 = tile.gather %x[%c0, %c0] along [0] by %each masked {tile.copy_rows = true} : !Array by tensor<32x64xi32> -> !A
    }
    %sum = arith.addf %0, %1 : !A
    tile.scatter %sum, %y[%c0, %c0] along [0] by %each masked : !A, !Array by tensor<32x64xi32>
    tile.store %2, %z[%c0, %c0] masked : !A, !Array
    tile.scatter %3, %z[%c0, %c0] along [0] by %each masked : !A, !Array by tensor<32x64xi32>
    gpu.return
  }
}
