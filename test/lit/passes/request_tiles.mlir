// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-make-persistent,tile-specialize-warps,tile-order-proxies,tile-place-accumulators{accumulators=1},tile-request-tiles)' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-make-persistent{schedule=static},tile-specialize-warps,tile-order-proxies,tile-place-accumulators{accumulators=1},tile-request-tiles)' | FileCheck %s --check-prefix=STATIC

// Two responses alternate. The thread that loads asks at the beginning of a tile; all read what came at its end.
// CHECK-LABEL: gpu.func @gemm
// CHECK-DAG: %[[SAID:.*]] = tile.alloc_shared : memref<2x2xi64
// CHECK: tile.barrier_init %[[FULL:.*]][%{{.*}}] count 1 : memref<2xi64
// CHECK: tile.barrier_init %[[EMPTY:.*]][%{{.*}}] count 256 : memref<2xi64
// CHECK: nvvm.elect.sync
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> (i32, i1, i32, i1, index, index, index, i1) {
// CHECK: %[[SLOT:.*]] = arith.index_castui
// CHECK: tile.barrier_wait %[[EMPTY]][%[[SLOT]]]
// CHECK: tile.barrier_expect %[[FULL]][%[[SLOT]]] bytes 16
// CHECK: tile.try_cancel %[[SAID]][%[[SLOT]]] signal %[[FULL]][%[[SLOT]]]
// CHECK: tile.tma_load
// CHECK: tile.barrier_wait %[[FULL]][%[[SLOT]]]
// CHECK-NEXT: %[[IS:.*]]:4 = tile.query_cancel %[[SAID]][%[[SLOT]]]
// CHECK: scf.yield {{.*}}, %[[IS]]#1, %[[IS]]#2, %[[IS]]#3, %[[IS]]#0 :
// CHECK: } {tile.takes_over}
// CHECK: tile.producer
// CHECK: tile.store
// CHECK: tile.barrier_wait %[[FULL]]
// CHECK-NEXT: %[[IS:.*]]:4 = tile.query_cancel %[[SAID]]
// CHECK-NEXT: nvvm.fence.proxy
// CHECK-NEXT: tile.barrier_arrive %[[EMPTY]]
// CHECK: scf.yield {{.*}}, %[[IS]]#0 :
// CHECK: } {tile.takes_over}

// STATIC-LABEL: gpu.func @gemm
// STATIC-SAME: tile.ctas_per_sm = 1 : i64
// STATIC-NOT: tile.query_cancel

!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!I = memref<?x?xf16, strided<[?, 1]>>
!R = memref<?x?xf32, strided<[?, 1]>>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @gemm(%a: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %b: !I {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                 %c: !R {llvm.noalias}, %depth: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tile.automatic} {
    %c0 = arith.constant 0 : index
    %size = arith.constant 128 : index
    %step = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !C
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %size : index
    %row = arith.muli %y, %size : index
    %product = scf.for %k = %c0 to %depth step %step iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !I -> !A
      %tb = tile.load %b[%k, %col] masked : !I -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }
    tile.store %product, %c[%row, %col] masked : !C, !R
    gpu.return
  }
}
