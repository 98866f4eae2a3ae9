// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-choose-pingpong)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-choose-pingpong{enabled=true})' | FileCheck %s --check-prefix=ALL

// Who asks for it gets it, or a remark that says why not; with the option, whoever says nothing.

!Array = memref<?x?xf16, strided<[?, 1]>>
!Out = memref<?x?xf32>
!B = tensor<64x128xf16>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @asked
  // CHECK-SAME: tile.pingpong = true
  // WHY: remark: 'gpu.func' op lets 2 warpgroups take tiles in turn, each of which multiplies while the other stores
  // ALL-LABEL: gpu.func @asked
  // ALL-SAME: tile.pingpong = true
  gpu.func @asked(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @silent
  // CHECK-NOT: tile.pingpong
  // ALL-LABEL: gpu.func @silent
  // ALL-SAME: tile.pingpong = true
  gpu.func @silent(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @refused
  // CHECK-NOT: tile.pingpong
  // ALL-LABEL: gpu.func @refused
  // ALL-NOT: tile.pingpong
  gpu.func @refused(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = false} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // ALL-LABEL: gpu.func @shared_tiles
  // CHECK-LABEL: gpu.func @shared_tiles
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: 2 warpgroups share each tile (known_block_size = array<i32: 128, 1, 1> lets one compute it)
  gpu.func @shared_tiles(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<128x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<128x64xf16>, !B, tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<128x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @a_tile_each
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: a CTA takes one tile, as tile.persistent = false says
  gpu.func @a_tile_each(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true, tile.persistent = false} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: its loop is not split into warps that load and warps that compute: its array is only known to begin at a multiple of 2 bytes
  gpu.func @unaligned(%a: !Array {tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rounds_of_a_place
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: the number of iterations may differ between tiles, and SMs that finish early would wait
  gpu.func @rounds_of_a_place(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %depth = arith.muli %y, %c64 : index
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @threads
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: its loop is not split into warps that load and warps that compute: 'gpu.block_dim' may depend on which threads there are
  gpu.func @threads(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %threads = gpu.block_dim x
    %depth = arith.muli %threads, %c64 : index
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_products
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: it has no loop with products of warpgroups
  gpu.func @no_products(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    tile.store %zero, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @chained
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: one product of its loop is computed from another, and while that is computed neither warpgroup would multiply
  gpu.func @chained(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Array -> tensor<64x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> tensor<64x64xf16>
      %one = tile.dot %ta, %tb, %none : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      %p = arith.truncf %one : tensor<64x64xf32> to tensor<64x64xf16>
      %tv = tile.load %b[%k, %c64] masked : !Array -> !B
      %next = tile.dot %p, %tv, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
      scf.yield %next : tensor<64x128xf32>
    }
    tile.store %r, %c[%row, %c0] masked : tensor<64x128xf32>, !Out
    gpu.return
  }

  // CHECK-LABEL: gpu.func @own_loop
  // CHECK-SAME: tile.pingpong = true
  // WHY: lets 2 warpgroups take tiles in turn
  gpu.func @own_loop(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %first = gpu.block_id x
    %ctas = gpu.grid_dim x
    scf.for %tile = %first to %depth step %ctas {
      %end = arith.muli %depth, %c64 : index
      %r = scf.for %k = %c0 to %end step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
        %ta = tile.load %a[%tile, %k] masked : !Array -> tensor<64x64xf16>
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
        scf.yield %next : tensor<64x128xf32>
      }
      tile.store %r, %c[%tile, %c0] masked : tensor<64x128xf32>, !Out
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @own_loop_of_different_tiles
  // CHECK-NOT: tile.pingpong
  // WHY: has no warpgroups that take tiles in turn: the number of iterations may differ between tiles
  gpu.func @own_loop_of_different_tiles(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: !Out {llvm.noalias}, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %y = gpu.block_id y
    %row = arith.muli %y, %c64 : index
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %first = gpu.block_id x
    %ctas = gpu.grid_dim x
    scf.for %tile = %first to %depth step %ctas {
      %end = arith.muli %tile, %c64 : index
      %r = scf.for %k = %c0 to %end step %c64 iter_args(%sum = %zero) -> (tensor<64x128xf32>) {
        %ta = tile.load %a[%tile, %k] masked : !Array -> tensor<64x64xf16>
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, !B, tensor<64x128xf32>
        scf.yield %next : tensor<64x128xf32>
      }
      tile.store %r, %c[%tile, %c0] masked : tensor<64x128xf32>, !Out
    }
    gpu.return
  }
}
