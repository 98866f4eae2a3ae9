// RUN: tile-opt %s --tile-fragments-to-nvvm --split-input-file --verify-diagnostics

!T = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @tensors(%g: memref<?x?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{'tile.load' op works on fragments here: run tile-to-fragments first}}
    %t = tile.load %g[%i, %i] : memref<?x?xf16> -> !T
    // expected-error @below {{'arith.addf' op cannot be lowered with a value of type tensor<16x16xf16,}}
    %u = arith.addf %t, %t : !T
    // expected-error @below {{'tile.store' op works on fragments here: run tile-to-fragments first}}
    tile.store %u, %g[%i, %i] : !T, memref<?x?xf16>
    gpu.return
  }
}

// -----

!S = memref<16x16xf16, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{'gpu.func' op cannot take an argument of type memref<16x16xf16, #tile.shared<"none">>; legal: memrefs in global memory, and scalars}}
  gpu.func @argument(%s: !S) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

!S = memref<16x16xf16, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @other_ops_on_buffers(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = tile.alloc_shared : !S
    // expected-error @below {{'memref.load' op cannot be lowered with a value of type memref<16x16xf16, #tile.shared<"none">>}}
    %x = memref.load %s[%i, %i] : !S
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  gpu.func @too_much(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = tile.alloc_shared : memref<128x128xf32, #tile.shared<"none">>
    // expected-error @below {{'tile.alloc_shared' op brings the kernel's shared memory to 66560 bytes; sm_75 has 65536 per CTA}}
    %t = tile.alloc_shared : memref<8x8xf16, #tile.shared<"none">>
    gpu.return
  }
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<2x32x64xf16, #tile.shared<"128B">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @outside(%i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c56 = arith.constant 56 : index
    %cm8 = arith.constant -8 : index
    %s = tile.alloc_shared : !S
    // expected-error @below {{'tile.ldmatrix' op reaches matrix 2 of a shared buffer that has 2}}
    %a = tile.ldmatrix %s[%c2, %z, %z] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
    // expected-error @below {{'tile.ldmatrix' op reaches row 47 of a shared buffer that has 32}}
    %b = tile.ldmatrix %s[%z, %c32, %z] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
    // expected-error @below {{'tile.ldmatrix' op takes rows from a multiple of 8 elements on}}
    %c = tile.ldmatrix %s[%z, %z, %c4] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
    // expected-error @below {{'tile.load' op reaches column 70 of a shared buffer that has 64}}
    %d = tile.load %s[%z, %z, %c56] : !S -> !A
    // expected-error @below {{'tile.store' op reaches row -8 of a shared buffer that has 32}}
    tile.store %d, %s[%z, %cm8, %z] : !A, !S
    gpu.return
  }
}

// -----

!S = memref<32x64xf16, #tile.shared<"128B">>
!P = memref<32x64xf16, #tile.shared<"swizzle<2,2,3>">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @copies(%g: memref<?x?xf16>, %i: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %s = tile.alloc_shared : !S
    %p = tile.alloc_shared : !P
    // expected-error @below {{'tile.async_copy' op the target's column index is not known to be a multiple of 8}}
    tile.async_copy %g[%z, %z] to %s[%z, %i] shape [16, 16] {vector = 8} : memref<?x?xf16> to !S
    // expected-error @below {{'tile.async_copy' op 8 elements of f16 at a time are not contiguous in memref<32x64xf16, #tile.shared<"128B">>}}
    tile.async_copy %g[%z, %z] to %s[%z, %c4] shape [16, 16] {vector = 8} : memref<?x?xf16> to !S
    // expected-error @below {{'tile.async_copy' op 8 elements of f16 at a time are not contiguous in memref<32x64xf16, #tile.shared<"swizzle<2,2,3>">>}}
    tile.async_copy %g[%z, %z] to %p[%z, %z] shape [16, 16] {vector = 8} : memref<?x?xf16> to !P
    gpu.return
  }
}

// -----

!S = memref<32x64xf16, #tile.shared<"128B">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_block_size(%g: memref<?x?xf16>) kernel {
    %z = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    // expected-error @below {{'tile.async_copy' op needs the kernel's attribute known_block_size = array<i32: X, Y, Z>}}
    tile.async_copy %g[%z, %z] to %s[%z, %z] shape [16, 16] {vector = 8} : memref<?x?xf16> to !S
    gpu.return
  }
}

// -----

!C = !tile.frag<tensor<8x8xbf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_such_update(%x: bf16, %g: memref<8x8xbf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : bf16 -> !C
    // expected-error @below {{'tile.atomic' op arith.addf of bf16 does not exist on sm_80; it needs sm_90 (PTX 7.8)}}
    tile.atomic arith.addf %t, %g[%z, %z] : !C, memref<8x8xbf16>
    gpu.return
  }
}

// -----

!C = !tile.frag<tensor<8x8xf32>, #tile.layout<"register [1,0]; lane [1,1] [0,2] [0,4] [2,0] [4,0] -> row 8, col 8">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @registers_and_lanes(%x: f32, %g: memref<8x8xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : f32 -> !C
    // expected-error @below {{'tile.store' op addresses memory by the layout 'register [1,0]; lane [1,1] [0,2] [0,4] [2,0] [4,0] -> row 8, col 8', two of whose inputs set the same bit of a row or column; legal: layouts in which each bit of a position is set by one input only}}
    tile.store %t, %g[%z, %z] : !C, memref<8x8xf32>
    gpu.return
  }
}

// -----

!T = tensor<32xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp -> row 32">>
!E = tensor<1x32xf32, #tile.layout<"register; lane [0,1] [0,2] [0,4] [0,8] [0,16]; warp -> row 1, col 32">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @views_of_level_2(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // expected-error @below {{'tile.fill' op works on fragments here: run tile-to-fragments first}}
    %t = tile.fill %x : f32 -> !T
    // expected-error @below {{'tile.reduce' op works on fragments here: run tile-to-fragments first}}
    %u = tile.reduce arith.maximumf %t axis 0 : !T -> f32
    // expected-error @below {{'tile.expand' op works on fragments here: run tile-to-fragments first}}
    %e = tile.expand %t axis 0 : !T -> !E
    // expected-error @below {{'tile.iota' op works on fragments here: run tile-to-fragments first}}
    %i = tile.iota axis 0
        : tensor<32xi32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp -> row 32">>
    gpu.return
  }
}
