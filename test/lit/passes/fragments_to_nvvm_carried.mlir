// What a loop carries beside fragments is known to be a multiple of something where it is: the
// column decides how many elements a copy takes at once.
// RUN: tilec %s | FileCheck %s

!Array = memref<64x4096xf16>
!A = tensor<64x64xf16>
!D = tensor<64x64xf32>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: .entry by_eights(
  // CHECK-COUNT-8: cp.async.cg.shared.global {{.*}}, 16;
  // CHECK-NOT: cp.async.c{{[ag]}}
  // CHECK:     ret;
  gpu.func @by_eights(%a: !Array {tile.aligned = 16 : i64}, %b: !Array {tile.aligned = 16 : i64}, %c: memref<64x64xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %sum:2 = scf.for %k = %c0 to %depth step %c64 iter_args(%old = %zero, %at = %c0) -> (!D, index) {
      %ta = tile.load %a[%c0, %at] : !Array -> !A
      %tb = tile.load %b[%c0, %at] : !Array -> !A
      %new = tile.dot %ta, %tb, %old : !A, !A, !D
      %next = arith.addi %at, %c8 : index
      scf.yield %new, %next : !D, index
    }
    tile.store %sum#0, %c[%c0, %c0] : !D, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: .entry by_twos(
  // CHECK-COUNT-32: cp.async.ca.shared.global {{.*}}, 4;
  // CHECK-NOT: cp.async.c{{[ag]}}
  // CHECK:     ret;
  gpu.func @by_twos(%a: !Array {tile.aligned = 16 : i64}, %b: !Array {tile.aligned = 16 : i64}, %c: memref<64x64xf32>, %depth: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !D
    %sum:3 = scf.for %k = %c0 to %depth step %c64 iter_args(%old = %zero, %at = %c0, %last = %zero) -> (!D, index, !D) {
      %ta = tile.load %a[%c0, %at] : !Array -> !A
      %tb = tile.load %b[%c0, %at] : !Array -> !A
      %new = tile.dot %ta, %tb, %old : !A, !A, !D
      %next = arith.addi %at, %c2 : index
      scf.yield %new, %next, %new : !D, index, !D
    }
    %both = arith.addf %sum#0, %sum#2 : !D
    tile.store %both, %c[%c0, %c0] : !D, memref<64x64xf32>
    gpu.return
  }
}
