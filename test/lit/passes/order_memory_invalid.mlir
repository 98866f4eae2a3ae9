// RUN: tile-opt %s --tile-order-memory --split-input-file --verify-diagnostics

#L = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
!T = tensor<32x16xf32, #L>
!G = memref<?x?xf32, strided<[?, 1]>>

gpu.module @m {
  gpu.func @some_warps(%g: !G, %h: !G {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %warp = gpu.subgroup_id : index
    %first = arith.cmpi eq, %warp, %c0 : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %first {
      // expected-note @below {{the 'tile.load' is here}}
      %a = tile.load %g[%c1, %c0] masked : !G -> !T
      // expected-error @below {{'tile.store' op writes data that other threads may not have read yet by 'tile.load', and no barrier can be placed between them in a 'scf.if' that may send threads different ways; legal: conditions and bounds that are the same in all threads, or elements that do not overlap, or accesses of the same elements under one layout}}
      tile.store %a, %g[%c0, %c0] masked : !T, !G
    }
    gpu.return
  }
}

// -----

#L = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
!T = tensor<32x16xf32, #L>
!G = memref<?x?xf32, strided<[?, 1]>>

gpu.module @m {
  gpu.func @rounds_of_warps(%g: !G, %h: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %warp = gpu.subgroup_id : index
    // expected-note @below {{the divergent control flow is here}}
    scf.for %i = %warp to %c2 step %c1 {
      // expected-note @below {{the 'tile.load' is here}}
      %a = tile.load %g[%c0, %c0] masked : !G -> !T
      // expected-error @below {{'tile.store' op writes data that other threads may not have read yet by 'tile.load', and no barrier can be placed between them in a 'scf.for' that may send threads different ways; legal: conditions and bounds that are the same in all threads, or arguments that share no memory, of which one is llvm.noalias}}
      tile.store %a, %h[%c0, %c0] masked : !T, !G
    }
    gpu.return
  }
}
