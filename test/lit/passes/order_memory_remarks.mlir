// RUN: tile-opt %s --tile-order-memory --remarks -o %t.mlir 2>%t.err
// RUN: FileCheck %s --input-file %t.err

#L = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
!T = tensor<32x16xf32, #L>
!G = memref<?x?xf32, strided<[?, 1]>>

gpu.module @m {
  // Each barrier is explained at the access that stands after it, with what would make it needless.
  gpu.func @explained(%x: !T, %g: !G, %h: !G, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    // CHECK: remarks.mlir:[[#@LINE+2]]:10: remark: 'tile.load' op reads data that other threads may not have written yet by 'tile.store', so that a barrier stands before it; none is needed between elements that do not overlap, or accesses of the same elements under one layout
    // CHECK: remarks.mlir:[[#@LINE-2]]:5: note: the 'tile.store' is here
    %a = tile.load %g[%c1, %c0] masked : !G -> !T
    // CHECK: remarks.mlir:[[#@LINE+1]]:5: remark: 'tile.store' op writes data that other threads may not have read yet by 'tile.load', so that a barrier stands before it; none is needed between arguments that share no memory, of which one is llvm.noalias
    tile.store %x, %h[%c0, %c0] masked : !T, !G
    scf.for %i = %c0 to %n step %c1 {
      // CHECK: remarks.mlir:[[#@LINE+1]]:12: remark: 'tile.load' op reads data that other threads may not have written yet by 'tile.store', so that a barrier stands before the 'scf.for' around it
      %b = tile.load %h[%i, %c0] masked : !G -> !T
    }
    gpu.return
  }
}
