// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps,tile-overlap-products)' --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-infer-vectors,tile-select-wgmma,tile-stage-wgmma,tile-assign-layouts,tile-specialize-warps,tile-overlap-products{enabled=false})' | FileCheck %s --check-prefix=OFF

!Array = memref<?x?xf16, strided<[?, 1]>>
!A = tensor<128x64xf16>
!B = tensor<64x64xf16>
!D = tensor<128x64xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // The first round but for its second product; rounds; the second product of the last.
  // OFF-LABEL: gpu.func @chain
  // OFF-NOT: tile.warpgroup_start
  // CHECK-LABEL: gpu.func @chain
  // CHECK: nvvm.setmaxregister decrease
  // CHECK: %[[THERE:.*]] = arith.cmpi slt, %c0, %arg4
  // CHECK: scf.if %[[THERE]]
  // CHECK: tile.barrier_wait
  // CHECK: %[[S0:.*]] = tile.warpgroup_dot {{.*}}a::descriptor
  // CHECK: tile.barrier_arrive
  // CHECK: %[[P0:.*]] = arith.truncf
  // CHECK: %[[C0:.*]] = arith.mulf %cst, %
  // CHECK-NOT: tile.warpgroup
  // CHECK: %[[LOOP:.*]]:6 = scf.for %{{.*}} = %c64{{.*}} to %arg4 step %c64 iter_args({{.*}} = %[[C0]], {{.*}} = %[[P0]],
  // CHECK: tile.barrier_wait
  // CHECK: %[[S:.*]] = tile.warpgroup_start {{.*}}a::descriptor
  // CHECK: tile.barrier_wait %[[FULL:.*]][%[[AT:.*]]] parity %[[PARITY:.*]] :
  // CHECK: %[[O:.*]] = tile.warpgroup_start {{.*}}a::registers
  // CHECK: tile.warpgroup_wait 1 %[[S]]
  // CHECK: tile.barrier_arrive
  // CHECK: arith.truncf
  // CHECK: tile.barrier_wait %[[FULL]][%[[AT]]] parity %[[PARITY]] :
  // CHECK: %[[DONE:.*]] = tile.warpgroup_wait 0 %[[O]]
  // CHECK: tile.barrier_arrive
  // CHECK: arith.mulf %[[DONE]],
  // CHECK: scf.yield
  // CHECK: tile.barrier_wait
  // CHECK: %[[LAST:.*]] = tile.warpgroup_dot {{.*}}a::registers
  // CHECK: tile.barrier_arrive
  // CHECK: scf.yield %[[LAST]]
  // CHECK: else
  // CHECK-NEXT: scf.yield %cst
  // CHECK: tile.store %{{.*}}#0
  // WHY: begins the first product of a round beside the second of the round before, which goes on while others compute: 80 registers of 232 hold what both need
  gpu.func @chain(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %v: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %two = arith.constant dense<2.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %one = tile.dot %ta, %tb, %zero : !A, !B, !D
      %twice = arith.mulf %one, %two : !D
      %p = arith.truncf %twice : !D to !A
      %tv = tile.load %v[%k, %c0] masked : !Array -> !B
      %scaled = arith.mulf %sum, %two : !D
      %next = tile.dot %p, %tv, %scaled : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 2 : i64}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @pinned
  // CHECK-NOT: tile.warpgroup_start
  // CHECK-NOT: tile.overlap
  gpu.func @pinned(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %v: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %two = arith.constant dense<2.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %one = tile.dot %ta, %tb, %zero : !A, !B, !D
      %twice = arith.mulf %one, %two : !D
      %p = arith.truncf %twice : !D to !A
      %tv = tile.load %v[%k, %c0] masked : !Array -> !B
      %scaled = arith.mulf %sum, %two : !D
      %next = tile.dot %p, %tv, %scaled : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 2 : i64, tile.overlap = false}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @asked
  // OFF-LABEL: gpu.func @asked
  // OFF: tile.warpgroup_start
  gpu.func @asked(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %v: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %two = arith.constant dense<2.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %one = tile.dot %ta, %tb, %zero : !A, !B, !D
      %twice = arith.mulf %one, %two : !D
      %p = arith.truncf %twice : !D to !A
      %tv = tile.load %v[%k, %c0] masked : !Array -> !B
      %scaled = arith.mulf %sum, %two : !D
      %next = tile.dot %p, %tv, %scaled : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 2 : i64, tile.overlap = true}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // What keeps a loop as it is.
  // CHECK-LABEL: gpu.func @in_turn
  // CHECK-NOT: tile.warpgroup_start
  // WHY: does one product after the other: its first product depends on the second of the previous iteration
  gpu.func @in_turn(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %v: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %two = arith.constant dense<2.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %one = tile.dot %ta, %tb, %sum : !A, !B, !D
      %twice = arith.mulf %one, %two : !D
      %p = arith.truncf %twice : !D to !A
      %tv = tile.load %v[%k, %c0] masked : !Array -> !B
      %scaled = arith.mulf %sum, %two : !D
      %next = tile.dot %p, %tv, %scaled : !A, !B, !D
      scf.yield %next : !D
    } {tile.stages = 2 : i64}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @not_carried
  // CHECK-NOT: tile.warpgroup_start
  // WHY: does one product after the other: its second product is not the accumulator of the next iteration
  gpu.func @not_carried(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %v: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}, %c: memref<?x?xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %two = arith.constant dense<2.0> : !D
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
      %ta = tile.load %a[%c0, %k] masked : !Array -> !A
      %tb = tile.load %b[%k, %c0] masked : !Array -> !B
      %one = tile.dot %ta, %tb, %zero : !A, !B, !D
      %twice = arith.mulf %one, %two : !D
      %p = arith.truncf %twice : !D to !A
      %tv = tile.load %v[%k, %c0] masked : !Array -> !B
      %scaled = arith.mulf %sum, %two : !D
      %next = tile.dot %p, %tv, %zero : !A, !B, !D
      %both = arith.addf %sum, %next : !D
      scf.yield %both : !D
    } {tile.stages = 2 : i64}
    tile.store %r, %c[%c0, %c0] masked : !D, memref<?x?xf32>
    gpu.return
  }
}
