// RUN: tile-opt %s --tile-select-tcgen05 --tile-stage-tcgen05 | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-tcgen05,tile-stage-tcgen05,tile-assign-layouts,tile-pipeline,tile-order-proxies)' | FileCheck %s --check-prefix=RING

// A row by row, K along its lines: one panel of 64. B row by row, N along its lines: two panels.
// Bytes, too, may be contiguous along N.

!Array = memref<?x?xf16, strided<[?, 1]>>
!Bytes = memref<?x?xf8E4M3FN, strided<[?, 1]>>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // CHECK-LABEL: gpu.func @gemm
  // CHECK-DAG: %[[A:.*]] = tile.alloc_shared : memref<1x128x64xf16, #tile.shared<"128B">>
  // CHECK-DAG: %[[B:.*]] = tile.alloc_shared : memref<2x64x64xf16, #tile.shared<"128B">>
  // CHECK: scf.for
  // CHECK: gpu.barrier
  // CHECK: tile.async_copy {{.*}} to %[[A]][{{.*}}] shape [128, 64] masked
  // CHECK: tile.async_copy {{.*}} to %[[B]][{{.*}}] shape [64, 128] masked
  // CHECK: tile.async_commit
  // CHECK: tile.async_wait 0
  // CHECK: gpu.barrier
  // CHECK-NOT: tile.load
  // CHECK: tile.tensor_dot %[[A]][{{.*}}], %[[B]][{{.*}}], %{{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", transpose_b, types = "f32.f16.f16", warps = array<i64: 4, 2>}

  // RING-LABEL: gpu.func @gemm
  // RING-DAG: tile.alloc_shared : memref<3x1x128x64xf16, #tile.shared<"128B">>
  // RING-DAG: tile.alloc_shared : memref<3x2x64x64xf16, #tile.shared<"128B">>
  // RING: scf.for
  // RING: tile.async_wait 1
  // RING-NEXT: nvvm.fence.proxy
  // RING-NEXT: gpu.barrier
  // RING: tile.tensor_dot
  // RING-NOT: nvvm.fence.proxy
  // RING: tile.store
  gpu.func @gemm(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r = scf.for %k = %c0 to %c256 step %c64 iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> tensor<128x64xf16>
      %tb = tile.load %b[%k, %c0] masked : !Array -> tensor<64x128xf16>
      %next = tile.dot %ta, %tb, %sum : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    tile.store %r, %c[%c0, %c0] masked : tensor<128x128xf32>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bytes
  // CHECK: tile.tensor_dot {{.*}} {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", transpose_a, transpose_b, types = "f32.e4m3.e4m3", warps = array<i64: 4, 1>} : memref<1x64x128xf8E4M3FN, #tile.shared<"128B">>, memref<1x64x32xf8E4M3FN, #tile.shared<"32B">>
  gpu.func @bytes(%a: !Bytes, %b: !Bytes, %c: memref<?x?xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<128x32xf32>
    %ta = tile.load %a[%c0, %c0] masked transposed : !Bytes -> tensor<128x64xf8E4M3FN>
    %tb = tile.load %b[%c0, %c0] masked : !Bytes -> tensor<64x32xf8E4M3FN>
    %d = tile.dot %ta, %tb, %zero : tensor<128x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<128x32xf32>
    tile.store %d, %c[%c0, %c0] masked : tensor<128x32xf32>, memref<?x?xf32>
    gpu.return
  }
}
