// RUN: tile-opt %s --tile-fragments-to-nvvm --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @some() {
    %a = tile.alloc_shared at 0 : memref<8x16xf16, #tile.shared<"none">>
    // expected-error @below {{either all buffers of a kernel have an offset or none}}
    %b = tile.alloc_shared : memref<8x16xf16, #tile.shared<"none">>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @alignment() {
    // expected-error @below {{offset 256 is not a multiple of 1024, as swizzles need}}
    %a = tile.alloc_shared at 256 : memref<8x16xf16, #tile.shared<"none">>
    gpu.return
  }
}
