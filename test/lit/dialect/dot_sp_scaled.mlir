// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --tile-to-fragments | FileCheck %s --check-prefix=FRAG

// One warp, one instruction; registers of scale factors have room for more.
!A = tensor<16x32xf8E4M3FN, #tile.layout<"register [0,1] [0,2] [8,0] [0,16]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 32">>
!B = tensor<64x8xf8E4M3FN, #tile.layout<"register [1,0] [2,0] [16,0] [32,0]; lane [4,0] [8,0] [0,1] [0,2] [0,4] -> row 64, col 8">>
!C = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
!E = tensor<16x16xi4, #tile.layout<"register [0,1] [0,2] [0,4]; lane [8,0] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!SA = tensor<16x1xf8E8M0FNU, #tile.layout<"register [0,0] [0,0]; lane [8,0] [0,0] [1,0] [2,0] [4,0] -> row 16, col 1">>
!SB = tensor<1x8xf8E8M0FNU, #tile.layout<"register [0,0] [0,0]; lane [0,0] [0,0] [0,1] [0,2] [0,4] -> row 1, col 8">>

gpu.module @sparse_scaled {
  // CHECK-LABEL: gpu.func @one(
  // FRAG-LABEL: gpu.func @one(
  gpu.func @one(%ma: memref<16x32xi8>, %mb: memref<64x8xi8>, %mc: memref<16x8xf32>,
                %me: memref<16x8xi8>, %msa: memref<16x1xi8>, %msb: memref<1x8xi8>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %ma[%z, %z] : memref<16x32xi8> -> !A
    %b = tile.load %mb[%z, %z] : memref<64x8xi8> -> !B
    %c = tile.load %mc[%z, %z] : memref<16x8xf32> -> !C
    %e = tile.load %me[%z, %z] : memref<16x8xi8> -> !E
    %sa = tile.load %msa[%z, %z] : memref<16x1xi8> -> !SA
    %sb = tile.load %msb[%z, %z] : memref<1x8xi8> -> !SB
    // CHECK: tile.dot_sp_scaled %{{.*}} {form =
    // FRAG: tile.mma_sp_scaled {{.*}}byte_id_a = 0 : i64, byte_id_b = 0 : i64, {{.*}}selector = 0 : i64, thread_id_a = 0 : i64, thread_id_b = 0 : i64
    // FRAG-NOT: tile.mma_sp_scaled
    %d = tile.dot_sp_scaled %a, %b, %c, %e, %sa, %sb {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"} : !A, !B, !C, !E, !SA, !SB
    tile.store %d, %mc[%z, %z] : !C, memref<16x8xf32>
    gpu.return
  }
}
