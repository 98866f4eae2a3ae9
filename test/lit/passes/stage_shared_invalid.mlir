// RUN: tile-opt %s --tile-stage-shared --split-input-file --verify-diagnostics

!A = tensor<16x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 16">>
!B = tensor<16x8xf16, #tile.layout<"register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp -> row 16, col 8">>
!C = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 8">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_block(%a: memref<16x16xf16>, %b: memref<16x8xf16>) kernel attributes {tile.automatic} {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    // expected-error @below {{'tile.load' op needs the kernel's attribute known_block_size = array<i32: X, Y, Z>}}
    %ta = tile.load %a[%z, %z] : memref<16x16xf16> -> !A
    %tb = tile.load %b[%z, %z] : memref<16x8xf16> -> !B
    %d = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    gpu.return
  }
}

// -----

!A = tensor<16x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 16">>
!B = tensor<16x8xf16, #tile.layout<"register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp -> row 16, col 8">>
!C = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 16, col 8">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @facts(%a: memref<16x16xf16> {tile.aligned = "16"}, %b: memref<16x8xf16>) kernel attributes {tile.automatic, known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    // expected-error @below {{'tile.load' op tile.aligned must be a positive integer, not "16"}}
    %ta = tile.load %a[%z, %z] : memref<16x16xf16> -> !A
    %tb = tile.load %b[%z, %z] : memref<16x8xf16> -> !B
    %d = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
        : !A, !B, !C
    gpu.return
  }
}
