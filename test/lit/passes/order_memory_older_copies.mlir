// RUN: tile-opt %s --tile-order-memory | FileCheck %s

// The store in the loop must wait for a copy that reads what it writes. The barrier stands in front of the loop, where
// no group has been closed since.

#rows = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16">
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @closed_in_the_loop(
  gpu.func @closed_in_the_loop(%a: memref<64x64xf16>, %b: memref<64x64xf16> {llvm.noalias}, %n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = tile.alloc_shared : memref<16x16xf16, #tile.shared<"none">>
    %t = tile.alloc_shared : memref<16x16xf16, #tile.shared<"none">>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = tile.load %b[%c0, %c0] : memref<64x64xf16> -> tensor<16x16xf16, #rows>
    // CHECK: tile.async_copy
    tile.async_copy %a[%c0, %c0] to %s[%c0, %c0] shape [16, 16] {vector = 8 : i64} : memref<64x64xf16> to memref<16x16xf16, #tile.shared<"none">>
    // CHECK-NEXT: tile.async_commit
    tile.async_commit
    // CHECK-NEXT: tile.async_wait 0
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: scf.for
    scf.for %i = %c0 to %n step %c1 {
      tile.async_copy %b[%c0, %c0] to %t[%c0, %c0] shape [16, 16] {vector = 8 : i64} : memref<64x64xf16> to memref<16x16xf16, #tile.shared<"none">>
      tile.async_commit
      tile.async_commit
      // CHECK-NOT: gpu.barrier
      // CHECK: tile.store
      tile.store %v, %a[%c0, %c0] : tensor<16x16xf16, #rows>, memref<64x64xf16>
    }
    gpu.return
  }
}
