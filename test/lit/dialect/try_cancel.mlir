// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tilec %s --emit ptx | FileCheck %s --check-prefix=PTX

!Bar = memref<2xi64, #tile.shared<"none">>
!Say = memref<2x2xi64, #tile.shared<"none">>

// CHECK-LABEL: gpu.func @taken
// PTX-LABEL: .entry taken
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @taken(%x: memref<4xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %false = arith.constant false
    %bar = tile.alloc_shared : !Bar
    %say = tile.alloc_shared : !Say
    %t = gpu.thread_id x
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      tile.barrier_init %bar[%c1] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }
    gpu.barrier
    scf.if %first {
      tile.barrier_expect %bar[%c1] bytes 16 : !Bar
      // CHECK: tile.try_cancel %{{.*}}[%{{.*}}] signal %{{.*}}[%{{.*}}] : memref<2x2xi64, #tile.shared<"none">> signal memref<2xi64, #tile.shared<"none">>
      // PTX: clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r{{[0-9]+}}], [%r{{[0-9]+}}];
      tile.try_cancel %say[%c1] signal %bar[%c1] : !Say signal !Bar
    }
    tile.barrier_wait %bar[%c1] parity %false : !Bar
    // CHECK: %{{.*}}:4 = tile.query_cancel %{{.*}}[%{{.*}}] : memref<2x2xi64, #tile.shared<"none">>
    // PTX: ld.shared.b128
    // PTX: clusterlaunchcontrol.query_cancel.is_canceled.pred.b128
    // PTX: clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, _}
    %there, %i, %j, %k = tile.query_cancel %say[%c1] : !Say
    %word = arith.index_cast %i : index to i32
    scf.if %there {
      memref.store %word, %x[%j] : memref<4xi32>
    }
    gpu.return
  }
}
