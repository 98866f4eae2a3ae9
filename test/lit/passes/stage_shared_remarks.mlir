// RUN: tile-opt %s --tile-stage-shared --remarks -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --input-file %t --check-prefix=IR

!A = tensor<16x16xf64, #tile.layout<"register [0,4] [0,8] [8,0]; lane [0,1] [0,2] [1,0] [2,0] [4,0]; warp -> row 16, col 16">>
!L = tensor<1024x16xf64, #tile.layout<"register [0,4] [0,8] [8,0] [16,0] [32,0] [64,0] [128,0] [256,0] [512,0]; lane [0,1] [0,2] [1,0] [2,0] [4,0]; warp -> row 1024, col 16">>
!B = tensor<16x8xf64, #tile.layout<"register [4,0] [8,0]; lane [1,0] [2,0] [0,1] [0,2] [0,4]; warp -> row 16, col 8">>
!C = tensor<1024x8xf64, #tile.layout<"register [0,1] [8,0] [16,0] [32,0] [64,0] [128,0] [256,0] [512,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp -> row 1024, col 8">>
gpu.module @m [#nvvm.target<chip = "sm_86">] {
  // What a load becomes, and what does not fit: the first tile is larger than the shared memory.
  // IR-LABEL: gpu.func @large(
  // IR: tile.alloc_shared : memref<16x8xf64,
  // IR-NOT: tile.alloc_shared
  // IR: gpu.return
  gpu.func @large(%a: memref<1024x16xf64>, %b: memref<16x8xf64> {tile.aligned = 16 : i64}) kernel attributes {tile.automatic, known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : !C
    // CHECK: :{{[0-9]+}}:11: remark: 'tile.load' op stays in global memory: its tile takes 131072 bytes of shared memory, and 101376 are left of 101376; a smaller tile fits
    %ta = tile.load %a[%z, %z] : memref<1024x16xf64> -> !L
    // CHECK: :{{[0-9]+}}:11: remark: 'tile.load' op goes through 1024 bytes of shared memory, swizzled as {{.*}}: copied 16 bytes at a time, loaded by loads of 8 bytes; {{.*}} none of them for bank conflicts
    %tb = tile.load %b[%z, %z] : memref<16x8xf64> -> !B
    %d = tile.dot %ta, %tb, %zero {form = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"}
        : !L, !B, !C
    gpu.return
  }
}
