// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --tile-to-fragments | FileCheck %s --check-prefix=FRAG

// Each of two warps has two fragments along M, two along N and two along K. A register of scale
// factors serves them all: thread ids tell rows and columns apart, byte ids the steps along K.
#A = #tile.layout<"register [0,1] [0,2] [8,0] [0,16] [16,0] [0,32]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [32,0] -> row 64, col 64">
#B = #tile.layout<"register [1,0] [2,0] [16,0] [0,8] [32,0]; lane [4,0] [8,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 64, col 16">
#C = #tile.layout<"register [0,1] [8,0] [0,8] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] -> row 64, col 16">
#SA = #tile.layout<"register [0,1] [0,0]; lane [8,0] [16,0] [1,0] [2,0] [4,0]; warp [32,0] -> row 64, col 2">
#SB = #tile.layout<"register [1,0] [0,0]; lane [0,8] [0,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 2, col 16">
!A = tensor<64x64xf8E4M3FN, #A>
!B = tensor<64x16xf8E4M3FN, #B>
!C = tensor<64x16xf32, #C>
!SA = tensor<64x2xf8E8M0FNU, #SA>
!SB = tensor<2x16xf8E8M0FNU, #SB>

gpu.module @scaled {
  // CHECK-LABEL: gpu.func @two_warps(
  // FRAG-LABEL: gpu.func @two_warps(
  gpu.func @two_warps(%ma: memref<64x64xi8>, %mb: memref<64x16xi8>, %mc: memref<64x16xf32>,
                      %msa: memref<64x2xi8>, %msb: memref<2x16xi8>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %ma[%z, %z] : memref<64x64xi8> -> !A
    %b = tile.load %mb[%z, %z] : memref<64x16xi8> -> !B
    %c = tile.load %mc[%z, %z] : memref<64x16xf32> -> !C
    %sa = tile.load %msa[%z, %z] : memref<64x2xi8> -> !SA
    %sb = tile.load %msb[%z, %z] : memref<2x16xi8> -> !SB
    // CHECK: tile.dot_scaled %{{.*}} {form = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"}
    // FRAG: tile.mma_scaled {{.*}}byte_id_a = 0 : i64, byte_id_b = 0 : i64, {{.*}}thread_id_a = 0 : i64, thread_id_b = 0 : i64
    // FRAG: tile.mma_scaled {{.*}}byte_id_a = 0 : i64, byte_id_b = 0 : i64, {{.*}}thread_id_a = 0 : i64, thread_id_b = 1 : i64
    // FRAG: tile.mma_scaled {{.*}}byte_id_a = 0 : i64, byte_id_b = 0 : i64, {{.*}}thread_id_a = 1 : i64, thread_id_b = 0 : i64
    // FRAG: tile.mma_scaled {{.*}}byte_id_a = 0 : i64, byte_id_b = 0 : i64, {{.*}}thread_id_a = 1 : i64, thread_id_b = 1 : i64
    // FRAG-COUNT-4: tile.mma_scaled {{.*}}byte_id_a = 1 : i64, byte_id_b = 1 : i64
    // FRAG-NOT: tile.mma_scaled
    %d = tile.dot_scaled %a, %b, %c, %sa, %sb {form = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"} : !A, !B, !C, !SA, !SB
    tile.store %d, %mc[%z, %z] : !C, memref<64x16xf32>
    gpu.return
  }
}
