// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --tile-to-fragments | FileCheck %s --check-prefix=FRAG

// 64 of K: two instructions for each fragment of C, which take the two halves of the metadata.
#A = #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 32">
#B = #tile.layout<"register [1,0] [8,0] [16,0] [0,8] [32,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 64, col 16">
#C = #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
#E = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
!A = tensor<32x32xf16, #A>
!B = tensor<64x16xf16, #B>
!C = tensor<32x16xf32, #C>
!E = tensor<32x16xi4, #E>

gpu.module @sparse {
  // CHECK-LABEL: gpu.func @two_warps(
  // FRAG-LABEL: gpu.func @two_warps(
  gpu.func @two_warps(%ma: memref<32x32xf16>, %mb: memref<64x16xf16>, %mc: memref<32x16xf32>,
                      %me: memref<32x8xi8>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %ma[%z, %z] : memref<32x32xf16> -> !A
    %b = tile.load %mb[%z, %z] : memref<64x16xf16> -> !B
    %c = tile.load %mc[%z, %z] : memref<32x16xf32> -> !C
    %e = tile.load %me[%z, %z] : memref<32x8xi8> -> !E
    // CHECK: tile.dot_sp %{{.*}} {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"}
    // FRAG-COUNT-2: tile.mma_sp {{.*}}selector = 0 : i64
    // FRAG-COUNT-2: tile.mma_sp {{.*}}selector = 1 : i64
    // FRAG-NOT: tile.mma_sp
    %d = tile.dot_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : !A, !B, !C, !E
    tile.store %d, %mc[%z, %z] : !C, memref<32x16xf32>
    gpu.return
  }
}

// At level 1 the form is chosen later.
// CHECK-LABEL: func.func @without_layouts(
func.func @without_layouts(%a: tensor<32x32xf16>, %b: tensor<64x16xf16>, %c: tensor<32x16xf32>, %e: tensor<32x16xi4>) {
  // CHECK: tile.dot_sp %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x32xf16>, tensor<64x16xf16>, tensor<32x16xf32>, tensor<32x16xi4>
  %d = tile.dot_sp %a, %b, %c, %e
      : tensor<32x32xf16>, tensor<64x16xf16>, tensor<32x16xf32>, tensor<32x16xi4>
  return
}
