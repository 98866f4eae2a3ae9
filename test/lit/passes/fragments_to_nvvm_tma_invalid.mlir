// RUN: tile-opt %s --tile-fragments-to-nvvm --split-input-file --verify-diagnostics

!M = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x64xf16, #tile.shared<"128B">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @view(%m: !M, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    %v = memref.cast %m : !M to memref<?x?xf16, strided<[?, ?], offset: ?>>
    // expected-error @below {{'tile.tma_store' op copies boxes of an argument of the kernel, for which the launch creates a tensor map; this array is not an argument}}
    tile.tma_store %v[%c0, %c0] from %s[%c0, %c0] shape [64, 64]
        : memref<?x?xf16, strided<[?, ?], offset: ?>> from !S
    gpu.return
  }
}

// -----

!M = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x64xf16, #tile.shared<"128B">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @row(%m: !M, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    // expected-error @below {{the row where the box begins is not known to be a multiple of 8}}
    tile.tma_store %m[%c0, %c0] from %s[%i, %c0] shape [8, 64] : !M from !S
    gpu.return
  }
}

// -----

!M = memref<?x?xf16, strided<[?, 1]>>
!S = memref<64x64xf16, #tile.shared<"128B">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @column(%m: !M, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    // expected-error @below {{a box begins at column 0 of a matrix of the buffer}}
    tile.tma_store %m[%c0, %c0] from %s[%c0, %i] shape [8, 64] : !M from !S
    gpu.return
  }
}
