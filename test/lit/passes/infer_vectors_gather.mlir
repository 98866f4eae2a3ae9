// RUN: tile-opt %s --tile-infer-vectors | FileCheck %s

// How wide accesses may be whose elements have offsets or conditions of their own.

!G = memref<?x?xf16, strided<[?, 1]>>
!T = tensor<8x32xf16>
!I = tensor<8x32xi32>
!P = tensor<8x32xi1>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @runs(
  gpu.func @runs(%m: !G {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>}, %ids: memref<?xi32>, %n: index)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %ids0 = tile.load %ids[%z] : memref<?xi32> -> tensor<8xi32>
    %column = tile.expand %ids0 axis 1 : tensor<8xi32> -> tensor<8x1xi32>
    %rows = tile.broadcast %column : tensor<8x1xi32> -> !I
    %across = tile.iota axis 1 : !I
    // One row for all of its elements; along the last dimension none follow each other.
    // CHECK: tile.gather {{.*}} along [0] by %{{.*}} masked {vector = 8 : i64}
    %0 = tile.gather %m[%z, %z] along [0] by %rows masked : !G by !I -> !T
    // CHECK: tile.gather {{.*}} along [1] by %{{.*}} masked : memref
    %1 = tile.gather %m[%z, %z] along [1] by %rows masked : !G by !I -> !T
    // An offset for each element.
    // CHECK: tile.gather {{.*}} along [0] by %{{.*}} masked : memref
    %2 = tile.gather %m[%z, %z] along [0] by %across masked : !G by !I -> !T

    // A row ends at a multiple of four, counted from one of two.
    %twelve = arith.constant dense<12> : !I
    %two = arith.constant dense<2> : !I
    %four = arith.constant dense<4> : !I
    %below = arith.cmpi slt, %across, %twelve : !I
    // CHECK: tile.gather {{.*}} where %{{.*}} masked {vector = 4 : i64}
    %3 = tile.gather %m[%z, %z] where %below masked : !G where !P -> !T
    %above = arith.cmpi sle, %twelve, %across : !I
    // CHECK: tile.gather {{.*}} where %{{.*}} masked {vector = 4 : i64}
    %4 = tile.gather %m[%z, %z] where %above masked : !G where !P -> !T
    %shifted = arith.addi %across, %two : !I
    %between = arith.cmpi ult, %shifted, %twelve : !I
    %both = arith.andi %between, %below : !P
    // CHECK: tile.gather {{.*}} where %{{.*}} masked {vector = 2 : i64}
    %5 = tile.gather %m[%z, %z] where %both masked : !G where !P -> !T
    // What holds up to a number and not after it changes after that: here at 13.
    %upto = arith.cmpi sle, %across, %twelve : !I
    // CHECK: tile.gather {{.*}} where %{{.*}} masked : memref
    %6 = tile.gather %m[%z, %z] where %upto masked : !G where !P -> !T
    %equal = arith.cmpi eq, %across, %twelve : !I
    // CHECK: tile.gather {{.*}} where %{{.*}} masked : memref
    %7 = tile.gather %m[%z, %z] where %equal masked : !G where !P -> !T
    // What is compared differs within a row: nothing is known.
    %uneven = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %short = tile.iota axis 0 : tensor<4xi32>
    %below_each = arith.cmpi slt, %short, %uneven : tensor<4xi32>
    // CHECK: tile.gather {{.*}} where %{{.*}} masked : memref
    %8 = tile.gather %ids[%z] where %below_each masked : memref<?xi32> where tensor<4xi1> -> tensor<4xi32>
    // One truth a row.
    %rowwise = arith.cmpi eq, %rows, %four : !I
    // CHECK: tile.scatter {{.*}} where %{{.*}} masked {vector = 8 : i64}
    tile.scatter %0, %m[%z, %z] where %rowwise masked : !T, !G where !P
    %turned = tile.iota axis 0 : !I
    %offset = arith.addi %turned, %rows : !I
    // CHECK: tile.scatter {{.*}} along [0] by %{{.*}} masked {vector = 8 : i64}
    tile.scatter %0, %m[%z, %z] along [0] by %offset masked : !T, !G by !I
    gpu.return
  }
}
