// RUN: tile-opt %s --tile-check-target --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x16xbf16>, #tile.layout<"m16n8k16 a bf16">>
!B = !tile.frag<tensor<16x8xbf16>, #tile.layout<"m16n8k16 b bf16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
gpu.module @bf16 [#nvvm.target<chip = "sm_75">] {
  gpu.func @k(%a: !A, %b: !B, %c: !C) {
    // expected-error @below {{'tile.mma' op mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 does not exist on sm_75; it needs sm_80 (PTX 7.0); nearest on sm_75: mma.sync.aligned.}}
    %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}
        : !A, !B, !C
    gpu.return
  }
}

// -----

// Inside of control flow, too, and all errors at once.
!F = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
gpu.module @volta [#nvvm.target<chip = "sm_70">] {
  gpu.func @k(%m: !S, %i: index, %p: i1) {
    scf.if %p {
      // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n8.x4.b16 does not exist on sm_70; it needs sm_75 (PTX 6.5); sm_70 has no form of ldmatrix}}
      %f = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !F
    }
    gpu.return
  }
  gpu.func @l(%m: !S, %i: index, %f: !F) {
    // expected-error @below {{'tile.stmatrix' op stmatrix.sync.aligned.m8n8.x4.b16 does not exist on sm_70; it needs sm_90 (PTX 7.8); sm_70 has no form of stmatrix}}
    tile.stmatrix %f, %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !F, !S
    gpu.return
  }
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
gpu.module @dot [#nvvm.target<chip = "sm_75">] {
  gpu.func @k(%a: !A, %b: !B, %c: !C) {
    // expected-error @below {{'tile.dot' op mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 does not exist on sm_75}}
    %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    gpu.return
  }
}

// -----

// expected-error @below {{'gpu.module' op names no target; give it [#nvvm.target<chip = "sm_80">] or compile with --target}}
gpu.module @untargeted {
}

// -----

// expected-error @below {{'gpu.module' op unknown target 'sm_81'}}
gpu.module @unknown [#nvvm.target<chip = "sm_81">] {
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @update(%t: tensor<8x8xbf16>, %g: memref<8x8xbf16>, %z: index) kernel {
    // expected-error @below {{'tile.atomic' op arith.addf of bf16 does not exist on sm_80; it needs sm_90 (PTX 7.8)}}
    tile.atomic arith.addf %t, %g[%z, %z] : tensor<8x8xbf16>, memref<8x8xbf16>
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{'gpu.func' op known_block_size is of 2048 threads; a CTA of sm_80 has at most 1024}}
  gpu.func @block() kernel attributes {known_block_size = array<i32: 512, 2, 2>} {
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @tile(%g: memref<?x?xf32>, %z: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{'tile.load' op gives tensor<512x256xf32>, 524288 bytes; the registers of an SM hold 262144: take smaller tiles}}
    %t = tile.load %g[%z, %z] masked : memref<?x?xf32> -> tensor<512x256xf32>
    %s = tile.load %g[%z, %z] masked : memref<?x?xf32> -> tensor<256x256xf32>
    gpu.return
  }
}
