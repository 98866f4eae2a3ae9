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
      // expected-error @below {{'tile.alloc_tensor' op stands in a branch or loop; legal: at the top of the kernel}}
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
