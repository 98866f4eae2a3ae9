// RUN: tile-opt %s --tile-from-linalg --split-input-file | FileCheck %s

// A function becomes a kernel; what `tile.` attributes say stays. The fill is where the
// sum begins.
// CHECK: gpu.module @kernels
// CHECK: gpu.func @matmul(%[[A:.*]]: memref<?x?xf16> {tile.aligned = 16 : i64}, %[[B:.*]]: memref<?x?xf16>, %[[C:.*]]: memref<?x?xf32>)
// CHECK-SAME: kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.grid = [array<i64: 2, 1, 128>, array<i64: 2, 0, 128>, array<i64>], tile.mine}
// CHECK-NOT: linalg
// CHECK: %[[X:.*]] = gpu.block_id x
// CHECK: %[[COL:.*]] = arith.muli %[[X]], %c128
// CHECK: %[[Y:.*]] = gpu.block_id y
// CHECK: %[[ROW:.*]] = arith.muli %[[Y]], %c128
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
// CHECK: %[[DEPTH:.*]] = memref.dim %[[A]], %c1
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %[[DEPTH]] step %c64{{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]])
// CHECK: %[[TA:.*]] = tile.load %[[A]][%[[ROW]], %[[K]]] masked : {{.*}} -> tensor<128x64xf16>
// CHECK: %[[TB:.*]] = tile.load %[[B]][%[[K]], %[[COL]]] masked : {{.*}} -> tensor<64x128xf16>
// CHECK: %[[D:.*]] = tile.dot %[[TA]], %[[TB]], %[[ACC]]
// CHECK: scf.yield %[[D]]
// CHECK: tile.store %[[SUM]], %[[C]][%[[ROW]], %[[COL]]] masked
// CHECK: gpu.return
func.func @matmul(%a: memref<?x?xf16> {tile.aligned = 16 : i64}, %b: memref<?x?xf16>, %c: memref<?x?xf32>) attributes {tile.mine} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf32>)
  return
}

// -----

// In a kernel that is one: its block says how many warps there are. Without a fill the result is
// added to. Static extents: tiles no larger than they, and the grid.
// CHECK: gpu.module @mine
// CHECK: gpu.func @transposed(%[[A:.*]]: memref<32x100xi8>, %[[B:.*]]: memref<200x32xi8>, %[[C:.*]]: memref<100x200xi32>)
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
// CHECK: %[[C0:.*]] = tile.load %[[C]][%[[ROW:.*]], %[[COL:.*]]] masked : {{.*}} -> tensor<128x128xi32>
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %[[C0]])
// CHECK: tile.load %[[A]][%[[K]], %[[ROW]]] masked transposed : {{.*}} -> tensor<128x32xi8>
// CHECK: tile.load %[[B]][%[[COL]], %[[K]]] masked transposed : {{.*}} -> tensor<32x128xi8>
// CHECK: tile.dot{{.*}} unsigned_a unsigned_b
gpu.module @mine {
  gpu.func @transposed(%a: memref<32x100xi8>, %b: memref<200x32xi8>, %c: memref<100x200xi32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>,
                                   affine_map<(m, n, k) -> (m, n)>]
        {cast = #linalg.type_fn<cast_unsigned>}
        ins(%a, %b : memref<32x100xi8>, memref<200x32xi8>) outs(%c : memref<100x200xi32>)
    gpu.return
  }
}

// -----

// A batch is the grid's third axis; bf16 is added up in f32.
// CHECK-LABEL: gpu.func @batch(
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[C:[^:]*]]:
// CHECK: %[[COL:.*]] = arith.muli
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[Z:.*]] = gpu.block_id z
// CHECK: %[[OLD:.*]] = tile.load %[[C]][%[[Z]], %[[ROW]], %[[COL]]]
// CHECK: %[[START:.*]] = arith.extf %[[OLD]] : tensor<128x128xbf16> to tensor<128x128xf32>
// CHECK: %[[DEPTH:.*]] = memref.dim %[[A]], %c2
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = {{.*}} to %[[DEPTH]] {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK: tile.load %[[A]][%[[Z]], %[[ROW]], %[[K]]]
// CHECK: tile.load %[[B]][%[[Z]], %[[K]], %[[COL]]]
// CHECK: %[[OUT:.*]] = arith.truncf %[[SUM]]
// CHECK: tile.store %[[OUT]], %[[C]][%[[Z]], %[[ROW]], %[[COL]]]
func.func @batch(%a: memref<?x?x?xbf16>, %b: memref<?x?x?xbf16>, %c: memref<?x?x?xbf16>) {
  linalg.batch_matmul ins(%a, %b : memref<?x?x?xbf16>, memref<?x?x?xbf16>) outs(%c : memref<?x?x?xbf16>)
  return
}

// -----

// Two numbers of a batch, of which B has one; a result whose rows are the columns of the first
// input is that of the product the other way round.
// CHECK-LABEL: gpu.func @contract(
// CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[C:[^:]*]]:
// CHECK: %[[COL:.*]] = arith.muli
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[Z:.*]] = gpu.block_id z
// CHECK: %[[HEADS:.*]] = memref.dim %[[B]], %c0
// CHECK: %[[H:.*]] = arith.remui %[[Z]], %[[HEADS]]
// CHECK: %[[I:.*]] = arith.divui %[[Z]], %[[HEADS]]
// CHECK: tile.load %[[B]][%[[H]], %[[ROW]], %[[K:.*]]] masked : {{.*}} -> tensor<128x64xf16>
// CHECK: tile.load %[[A]][%[[I]], %[[H]], %[[COL]], %[[K]]] masked transposed : {{.*}} -> tensor<64x128xf16>
// CHECK: tile.store %{{.*}}, %[[C]][%[[I]], %[[H]], %[[ROW]], %[[COL]]] masked
func.func @contract(%a: memref<?x?x?x?xf16>, %b: memref<?x?x?xf16>, %c: memref<?x?x?x?xf16>) {
  linalg.contract indexing_maps = [affine_map<(i, h, m, n, k) -> (i, h, m, k)>,
                                   affine_map<(i, h, m, n, k) -> (h, n, k)>,
                                   affine_map<(i, h, m, n, k) -> (i, h, n, m)>]
      ins(%a, %b : memref<?x?x?x?xf16>, memref<?x?x?xf16>) outs(%c : memref<?x?x?x?xf16>)
  return
}

// -----

// f32 that may be tf32, by linalg.generic; the sum begins with a scalar.
// CHECK-LABEL: gpu.func @generic(
// CHECK-SAME: %[[START:[^ ]*]]: f32
// CHECK: %[[FILL:.*]] = tile.fill %[[START]] : f32 -> tensor<128x128xf32>
// CHECK: iter_args(%{{.*}} = %[[FILL]])
// CHECK: tile.load{{.*}} -> tensor<128x32xtf32>
// CHECK: tile.load{{.*}} -> tensor<32x128xtf32>
func.func @generic(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %start: f32) {
  linalg.fill ins(%start : f32) outs(%c : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>) attrs = {tile.tf32} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %product = arith.mulf %y, %x : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// Programs without linalg stay as they are.
// CHECK: func.func @host
// CHECK: gpu.func @device(
// CHECK-NEXT: gpu.return
func.func @host(%n: index) -> index { return %n : index }
gpu.module @other {
  gpu.func @device() kernel { gpu.return }
}
