// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-allocate-tensor-memory

!D = memref<128x256xf32, #tile.tensor<"d">>
!S = memref<2x128x4xi8, #tile.tensor<"scale">>
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @budget() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-note @below {{256 columns are here}}
    %d = tile.alloc_tensor : !D
    // expected-note @below {{256 columns are here}}
    %e = tile.alloc_tensor : !D
    // expected-error @below {{'tile.alloc_tensor' op brings the kernel's tensor memory to 256 (d 128x256) + 256 (d 128x256) + 2 x 4 (scale 128x4) = 520 columns, needed at the same time; an SM has 512}}
    %s = tile.alloc_tensor : !S
    gpu.return
  }
}

// -----

!D = memref<128x256xf32, #tile.tensor<"d">>
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @place(%p: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    scf.if %p {
      // expected-error @below {{'tile.alloc_tensor' op is in a branch or loop; legal: at the top level of the kernel}}
      %d = tile.alloc_tensor : !D
    }
    gpu.return
  }
}

// -----

!D = memref<128x256xf32, #tile.tensor<"d">>
!Bars = memref<1xi64, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @groups(%b: !Bars, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-note @below {{the first buffer is here}}
    %d = tile.alloc_tensor : !D
    // expected-error @below {{'tile.tcgen05_commit' op has cta_group::2 in a kernel whose tensor memory is allocated with cta_group::1; legal: one for all of a kernel}}
    tile.tcgen05_commit %b[%i] {cta_group = 2} : !Bars
    gpu.return
  }
}

// -----

// The first and the second are not needed at the same time, and do not add up.
!D = memref<128x256xf32, #tile.tensor<"d">>
!E = memref<128x264xf32, #tile.tensor<"a">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  gpu.func @at_the_same_time(%x: !F) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-note @below {{256 columns are here}}
    %d = tile.alloc_tensor : !D
    %e = tile.alloc_tensor : !D
    // expected-error @below {{brings the kernel's tensor memory to 256 (d 128x256) + 264 (a 128x264) = 520 columns, needed at the same time; an SM has 512}}
    %f = tile.alloc_tensor : !E
    tile.tcgen05_st %x, %d[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    tile.tcgen05_st %x, %f[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !E
    gpu.barrier
    tile.tcgen05_st %x, %e[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    tile.tcgen05_st %x, %f[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !E
    gpu.return
  }
}
