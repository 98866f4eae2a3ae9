// RUN: tile-opt %s --tile-pipeline --split-input-file --verify-diagnostics

!A = tensor<64x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">>
!G = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x32xf16, #tile.shared<"64B">>
gpu.module @m [#nvvm.target<chip = "sm_86">] {
  gpu.func @too_many(%a: !G, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op tile.stages = 32 takes 131072 bytes of shared memory, and there are 101376 of 101376; 24 of 4096 each would fit}}
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
    } {tile.stages = 32 : i64}
    gpu.return
  }
}

// -----

!A = tensor<64x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">>
!G = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x32xf16, #tile.shared<"64B">>
gpu.module @m [#nvvm.target<chip = "sm_86">] {
  gpu.func @none(%a: !G, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op tile.stages must be a positive integer, not 0 : i64}}
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
    } {tile.stages = 0 : i64}
    gpu.return
  }
}

// -----

!A = tensor<64x32xf16, #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [0,0] -> row 64, col 32">>
!G = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x32xf16, #tile.shared<"64B">>
gpu.module @m [#nvvm.target<chip = "sm_86">] {
  gpu.func @text(%a: !G, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = tile.alloc_shared : !S
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op tile.stages must be a positive integer, not "3"}}
    scf.for %k = %z to %n step %c1 {
      gpu.barrier
      tile.async_copy %a[%z, %k] to %s[%z, %z] shape [64, 32] {vector = 8 : i64} : !G to !S
      tile.async_commit
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %s[%z, %z] : !S -> !A
    } {tile.stages = "3"}
    gpu.return
  }
}
