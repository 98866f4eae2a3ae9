// RUN: tile-opt %s | tile-opt | FileCheck %s

!T = tensor<8x32xf16, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">>
!I = tensor<8x32xi64, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0]; warp -> row 8, col 32">>
!F = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 c f16">>
!P = !tile.frag<tensor<16x8xi1>, #tile.layout<"m16n8k16 c f16">>

// CHECK-LABEL: func.func @rows(
func.func @rows(%m: memref<?x?xf16>, %b: memref<?x?x?xf16>, %o: tensor<8x32xi32>, %p: tensor<8x32xi1>, %i: !I, %q: !P, %z: index) {
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] along [0] by %{{.*}} masked {vector = 8 : i64} : memref<?x?xf16> by tensor<8x32xi32> -> tensor<8x32xf16>
  %0 = tile.gather %m[%z, %z] along [0] by %o masked {vector = 8 : i64}
      : memref<?x?xf16> by tensor<8x32xi32> -> tensor<8x32xf16>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] where %{{.*}} : memref<?x?xf16> where tensor<8x32xi1> -> tensor<8x32xf16>
  %1 = tile.gather %m[%z, %z] where %p : memref<?x?xf16> where tensor<8x32xi1> -> tensor<8x32xf16>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] along [0, 2] by %{{.*}}, %{{.*}} where %{{.*}} masked : memref<?x?x?xf16> by tensor<8x32xi32>, tensor<8x32xi32> where tensor<8x32xi1> -> tensor<8x32xf16>
  %2 = tile.gather %b[%z, %z, %z] along [0, 2] by %o, %o where %p masked
      : memref<?x?x?xf16> by tensor<8x32xi32>, tensor<8x32xi32> where tensor<8x32xi1> -> tensor<8x32xf16>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] along [1] by %{{.*}} : memref<?x?xf16> by [[I:.*]] -> [[T:.*]]
  %3 = tile.gather %m[%z, %z] along [1] by %i : memref<?x?xf16> by !I -> !T
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] where %{{.*}} : memref<?x?xf16> where [[P:.*]] -> [[F:.*]]
  %4 = tile.gather %m[%z, %z] where %q : memref<?x?xf16> where !P -> !F
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x?xf16> -> tensor<8x32xf16>
  %5 = tile.gather %m[%z, %z] : memref<?x?xf16> -> tensor<8x32xf16>
  return
}
