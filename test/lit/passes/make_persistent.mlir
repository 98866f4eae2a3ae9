// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-make-persistent)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-make-persistent{enabled=false})' | FileCheck %s --check-prefix=OFF

!Array = memref<?x?xf16, strided<[?, 1]>>
!Out = memref<?x?xf32>
!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!D = tensor<128x128xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // Constants and what arguments say stay at the top; a tile has a place in the grid that is launched.
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-SAME: %[[X:[^ ]*]]: i32, %[[Y:[^ ]*]]: i32, %[[Z:[^ ]*]]: i32)
  // CHECK-NOT: known_grid_size
  // CHECK-SAME: tile.ctas_per_sm = 1 : i64
  // CHECK: %[[DEPTH:.*]] = memref.dim
  // CHECK: %[[LESS:.*]] = arith.andi %[[X]], %c2147483647_i32 : i32
  // CHECK: %[[ACROSS:.*]] = arith.index_castui %[[LESS]] : i32 to index
  // CHECK: %[[XY:.*]] = arith.muli %[[X]], %[[Y]] : i32
  // CHECK: %[[XYZ:.*]] = arith.muli %[[XY]], %[[Z]] : i32
  // CHECK: %[[TILES:.*]] = arith.andi %[[XYZ]], %c2147483647_i32{{.*}} : i32
  // CHECK: %[[COUNT:.*]] = arith.index_castui %[[TILES]] : i32 to index
  // CHECK: %[[FIRST:.*]] = gpu.block_id x
  // CHECK: %[[CTAS:.*]] = gpu.grid_dim x
  // CHECK-NEXT: scf.for %[[TILE:.*]] = %[[FIRST]] to %[[COUNT]] step %[[CTAS]] {
  // CHECK: %[[NUMBER:.*]] = arith.index_castui %[[TILE]] : index to i32
  // CHECK: %[[LAYER:.*]] = arith.muli %[[X]], %[[Y]] : i32
  // CHECK: %[[IN:.*]] = arith.remui %[[NUMBER]], %[[LAYER]] : i32
  // CHECK: %[[ROWS:.*]] = arith.minui %c8_i32, %[[Y]] : i32
  // CHECK: %[[GROUP:.*]] = arith.muli %[[X]], %[[ROWS]] : i32
  // CHECK: %[[WHICH:.*]] = arith.divui %[[IN]], %[[GROUP]] : i32
  // CHECK: %[[WITHIN:.*]] = arith.remui %[[IN]], %[[GROUP]] : i32
  // CHECK: %[[FIRST_ROW:.*]] = arith.muli %[[WHICH]], %[[ROWS]] : i32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[Y]], %[[FIRST_ROW]] : i32
  // CHECK: %[[HEIGHT:.*]] = arith.minui %[[LEFT]], %[[ROWS]] : i32
  // CHECK: %[[COL:.*]] = arith.divui %[[WITHIN]], %[[HEIGHT]] : i32
  // CHECK: %[[SMALL:.*]] = arith.andi %[[COL]], %c2147483647_i32{{.*}} : i32
  // CHECK: %[[PLACE:.*]] = arith.index_castui %[[SMALL]] : i32 to index
  // CHECK-NOT: gpu.block_id
  // CHECK: arith.muli %[[PLACE]], %c128
  // CHECK: arith.muli %{{.*}}, %[[ACROSS]]
  // CHECK: scf.for {{.*}} to %[[DEPTH]]
  // CHECK: tile.warpgroup_dot
  // CHECK: tile.store
  // CHECK: }
  // CHECK-NEXT: gpu.return
  // WHY: remark: 'gpu.func' op is launched with one CTA per SM, each of which processes several tiles of the grid in turn: boxes of the next arrive while one is stored
  // OFF-LABEL: gpu.func @gemm
  // OFF-NOT: ctas_per_sm
  gpu.func @gemm(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 5, 3>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %depth = memref.dim %a, %c1 : !Array
    %x = gpu.block_id x
    %y = gpu.block_id y
    %across = gpu.grid_dim x
    %col = arith.muli %x, %c128 : index
    %down = arith.muli %y, %across : index
    %row = arith.muli %down, %c128 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%row, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %col] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%row, %col] masked : !D, !Out
    gpu.return
  }

  // What keeps a CTA to its tile.
  // CHECK-LABEL: gpu.func @pinned
  // CHECK-NOT: ctas_per_sm
  // CHECK-NOT: tile.persistent
  // OFF-LABEL: gpu.func @pinned
  // OFF-NOT: tile.persistent
  gpu.func @pinned(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.persistent = false} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wanted
  // CHECK: ctas_per_sm
  // OFF-LABEL: gpu.func @wanted
  // OFF: ctas_per_sm
  gpu.func @wanted(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.persistent = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @shared_memory_of_arguments
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: it may write data that the next tile loads (mark arguments that do not overlap others llvm.noalias)
  gpu.func @shared_memory_of_arguments(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rounds_of_a_place
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: the number of iterations may differ between tiles, and SMs that finish early would wait
  // WHY: has no clusters of 2 neighbours along y: only CTAs that take several tiles load for others
  gpu.func @rounds_of_a_place(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.cluster = array<i64: 1, 2, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %depth = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @clusters
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: it says which CTAs are a cluster
  gpu.func @clusters(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_room
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: 7 stages of 32768 bytes, as its loop requires, leave no room for the stored tile
  gpu.func @no_room(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf16> {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 7 : i64}
    %h = arith.truncf %r : !D to tensor<128x128xf16>
    tile.store %h, %c[%c0, %c0] masked : tensor<128x128xf16>, memref<?x?xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: its loop is not split into warps that load and warps that compute: its array is only known to begin at a multiple of 2 bytes
  gpu.func @unaligned(%a: !Array {tile.strides = array<i64: 8, 1>}, %b: !Array, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one_warpgroup
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: an SM holds several CTAs, of which some multiply while others store
  gpu.func @one_warpgroup(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_loops
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: 'scf.for' is next to its loop of products
  gpu.func @other_loops(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    scf.for %k = %c0 to %depth step %c64 {
      tile.store %r, %c[%c0, %k] masked : !D, !Out
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @other_buffers
  // CHECK-NOT: ctas_per_sm
  // WHY: is launched with one CTA per tile: it fills buffers in shared memory which the tile before may still read
  gpu.func @other_buffers(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %ta = tile.load %a[%c0, %c0] masked : !Array -> !A
    %zero = arith.constant dense<0.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !D
      scf.yield %next : !D
    }
    tile.store %r, %c[%c0, %c0] masked : !D, !Out
    gpu.return
  }
}
