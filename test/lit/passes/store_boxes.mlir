// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps,tile-store-boxes)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps,tile-store-boxes,tile-to-fragments)' | FileCheck %s --check-prefix=FRAG

// 128 columns go through two panels; each fragment is stored to its own.

!Array = memref<?x?xf16, strided<[?, 1]>>
!Sums = memref<?x?xf32, strided<[?, 1]>>
!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!D = tensor<128x128xf32>
!H = tensor<128x128xf16>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @boxes
  // CHECK: %[[PANELS:.*]] = tile.alloc_shared : memref<2x128x64xf16, #tile.shared<"128B">>
  // CHECK: gpu.barrier
  // CHECK: tile.store %{{.*}}, %[[PANELS]][%{{.*}}] {form = "stmatrix.sync.aligned.m8n8.x4.b16"}
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: gpu.barrier
  // CHECK: scf.if
  // CHECK: tile.tma_store %[[C:.*]][%{{.*}}] from %[[PANELS]][%{{.*}}] shape [128, 64]
  // CHECK: tile.tma_store %[[C]][%{{.*}}] from %[[PANELS]][%{{.*}}] shape [128, 64]
  // CHECK: nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0
  // WHY: remark: 'tile.store' op leaves by TMA, through 2 panels of 128 lines of 64 elements in shared memory, swizzled as 128B
  // FRAG-LABEL: gpu.func @boxes
  // FRAG: %[[P:.*]] = tile.alloc_shared : memref<2x128x64xf16
  // FRAG: tile.stmatrix %{{.*}}, %[[P]][%c0{{[_0-9]*}}, %{{.*}}, %c48
  // FRAG: tile.stmatrix %{{.*}}, %[[P]][%c1{{[_0-9]*}}, %{{.*}}, %c0
  gpu.func @boxes(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %col = arith.muli %x, %c128 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %col] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    %h = arith.truncf %r : !D to !H
    tile.store %h, %c[%c0, %col] masked : !H, !Array
    gpu.return
  }

  // Sums of 32 bits leave as they are, through panels of 32 elements a line.
  // CHECK-LABEL: gpu.func @sums
  // CHECK: %[[SUMS:.*]] = tile.alloc_shared : memref<4x128x32xf32, #tile.shared<"128B">>
  // CHECK: tile.store %{{.*}}, %[[SUMS]][%{{.*}}] : tensor<128x128xf32
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-COUNT-4: tile.tma_store %{{.*}}[%{{.*}}] from %[[SUMS]][%{{.*}}] shape [128, 32]
  // WHY: remark: 'tile.store' op leaves by TMA, through 4 panels of 128 lines of 32 elements in shared memory, swizzled as 128B
  gpu.func @sums(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Sums {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 4>, tile.strides = array<i64: 4, 1>}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Sums
    gpu.return
  }

  // CHECK-LABEL: gpu.func @odd_rows
  // CHECK-NOT: tile.tma_store
  // WHY: remark: 'tile.store' op is not stored by boxes: rows are not known to be multiples of 16 bytes long (tile.sizes may guarantee it)
  gpu.func @odd_rows(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    %h = arith.truncf %r : !D to !H
    tile.store %h, %c[%c0, %c0] masked : !H, !Array
    gpu.return
  }

  // CHECK-LABEL: gpu.func @read_too
  // CHECK-NOT: tile.tma_store
  // WHY: remark: 'tile.store' op is not stored by boxes: something else may access its array
  gpu.func @read_too(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Array {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    %h = arith.truncf %r : !D to !H
    tile.store %h, %c[%c0, %c0] masked : !H, !Array
    gpu.return
  }

  // The next tile reads the array before it stores to it: what has left is awaited at once.
  // CHECK-LABEL: gpu.func @reads_what_left
  // CHECK: scf.for
  // CHECK: tile.tma_store
  // CHECK: tile.tma_store
  // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 0
  // CHECK-NOT: nvvm.cp.async.bulk.wait_group
  gpu.func @reads_what_left(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Array {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>}, %depth: index, %rows: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    scf.for %row = %c0 to %rows step %c128 {
      %below = arith.addi %row, %c128 : index
      %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%row, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      %old = tile.load %c[%row, %c0] masked : !Array -> !H
      %h = arith.truncf %r : !D to !H
      %s = arith.addf %h, %old : !H
      tile.store %s, %c[%below, %c0] masked : !H, !Array
    }
    gpu.return
  }
}
