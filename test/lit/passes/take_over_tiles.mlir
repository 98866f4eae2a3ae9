// RUN: tile-opt %s --tile-take-over-tiles | FileCheck %s

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // The condition is the last value that the loop carries.
  // CHECK-LABEL: gpu.func @taken
  gpu.func @taken(%out: memref<?xi32>, %next: memref<?xi1>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %x = gpu.block_id x
    // CHECK: %[[LAST:.*]]:2 = scf.while (%[[P:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}) : (index, i1) -> (index, i1) {
    // CHECK-NEXT: scf.condition(%[[M]]) %[[P]], %[[M]] : index, i1
    // CHECK-NEXT: } do {
    // CHECK-NEXT: ^bb0(%[[PLACE:.*]]: index, %{{.*}}: i1):
    // CHECK: memref.store %{{.*}}, %{{.*}}[%[[PLACE]]]
    // CHECK: scf.yield
    %last:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%place = %x, %more = %true) -> (index, i1) {
      %word = arith.index_cast %i : index to i32
      memref.store %word, %out[%place] : memref<?xi32>
      %again = memref.load %next[%place] : memref<?xi1>
      %further = arith.addi %place, %c1 : index
      scf.yield %further, %again : index, i1
    } {tile.takes_over}
    // CHECK: memref.store %{{.*}}, %{{.*}}[%[[LAST]]#0]
    %word = arith.constant 7 : i32
    memref.store %word, %out[%last#0] : memref<?xi32>
    gpu.return
  }
}
