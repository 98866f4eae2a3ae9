// RUN: tile-opt %s --tile-select-mma --split-input-file --verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_75">] {
  gpu.func @types(%x: bf16, %s: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : bf16 -> tensor<32x32xbf16>
    %c = tile.fill %s : f32 -> tensor<32x32xf32>
    // expected-error @below {{'tile.dot' op no instruction of sm_75 multiplies bf16 by bf16 and adds to f32, giving f32; legal: f16 by f16 to f16, f16 by f16 to f32, i4 by i4 to i32, i8 by i8 to i32}}
    %d = tile.dot %a, %a, %c : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @extents(%x: f16, %s: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : f16 -> tensor<8x32xf16>
    %b = tile.fill %x : f16 -> tensor<32x32xf16>
    %c = tile.fill %s : f32 -> tensor<8x32xf32>
    // expected-error @below {{'tile.dot' op 8x32x32 (M, N, K) is not a whole number of instructions for f16 by f16 to f32 on sm_80; let each extent be a multiple of those of one of m16n8k8, m16n8k16}}
    %d = tile.dot %a, %b, %c : tensor<8x32xf16>, tensor<32x32xf16>, tensor<8x32xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @pins(%x: f16, %s: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : f16 -> tensor<16x8xf16>
    %b = tile.fill %x : f16 -> tensor<8x16xf16>
    %c = tile.fill %s : f32 -> tensor<16x16xf32>
    // expected-error @below {{'tile.dot' op warps 2x2 are not the 2 of the kernel}}
    %e = tile.dot %a, %b, %c {warps = array<i64: 2, 2>}
        : tensor<16x8xf16>, tensor<8x16xf16>, tensor<16x16xf32>
    gpu.return
  }
}

// -----

// expected-error @below {{'gpu.module' op names no target}}
gpu.module @m {
  gpu.func @no_target(%x: f16) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %a = tile.fill %x : f16 -> tensor<16x16xf16>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{'gpu.func' op needs the kernel's attribute known_block_size}}
  gpu.func @no_block(%x: f16, %s: f32) kernel {
    %a = tile.fill %x : f16 -> tensor<16x16xf16>
    %c = tile.fill %s : f32 -> tensor<16x16xf32>
    %d = tile.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{'gpu.func' op cannot take an argument of type tensor<16x16xf32>; legal: memrefs in global memory, and scalars}}
  gpu.func @argument(%t: tensor<16x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %e = math.exp2 %t : tensor<16x16xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @unknown(%x: f16) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.fill %x : f16 -> tensor<16x16xf16>
    // expected-error @below {{'tensor.extract' op takes no tiles without layouts; legal: arith and math ops, scf.for, scf.if, scf.while, arith.constant, tile.atomic}}
    %e = tensor.extract %a[%z, %z] : tensor<16x16xf16>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @registers(%x: f16, %s: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = tile.fill %x : f16 -> tensor<256x16xf16>
    %b = tile.fill %x : f16 -> tensor<16x256xf16>
    %c = tile.fill %s : f32 -> tensor<256x256xf32>
    // expected-error @below {{'tile.dot' op has an accumulator of 256x256xf32, 512 registers of each of 128 threads; a thread has 255: let the tile be smaller, or the warps more}}
    %d = tile.dot %a, %b, %c : tensor<256x16xf16>, tensor<16x256xf16>, tensor<256x256xf32>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{'gpu.func' op 3 warps cannot share a tile evenly; let known_block_size be of 64 or 128 threads}}
  gpu.func @three_warps(%x: f16, %s: f32) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %a = tile.fill %x : f16 -> tensor<16x16xf16>
    %c = tile.fill %s : f32 -> tensor<16x16xf32>
    %d = tile.dot %a, %a, %c : tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x16xf32>
    gpu.return
  }
}
