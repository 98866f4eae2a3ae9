// RUN: tile-opt %s --tile-infer-vectors | FileCheck %s

!G = memref<?x?xf16, strided<[?, 1]>>
!S = memref<?x?xf16, strided<[?, ?]>>
!T = tensor<128x64xf16>
!L = tensor<16x16xf16, #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp -> row 16, col 16">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Alignment, strides and, of a masked access, sizes: the least of them.
  // CHECK-LABEL: gpu.func @facts(
  gpu.func @facts(%none: !G,
                  %half: !G {tile.aligned = 16 : i64, tile.strides = array<i64: 12, 1>},
                  %most: !G {tile.aligned = 256 : i64, tile.strides = array<i64: 64, 1>},
                  %even: !G {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 2>, tile.strides = array<i64: 8, 1>},
                  %offset: memref<?x?xf16, strided<[?, 1], offset: 4>> {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                  %apart: !S {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 8>})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}]
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 4 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 8 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] transposed {vector = 8 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 8 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] masked {vector = 2 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 4 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}]
    %z = arith.constant 0 : index
    %0 = tile.load %none[%z, %z] : !G -> !T
    %1 = tile.load %half[%z, %z] : !G -> !T
    %2 = tile.load %most[%z, %z] : !G -> !T
    %3 = tile.load %most[%z, %z] transposed : !G -> !T
    %4 = tile.load %even[%z, %z] : !G -> !T
    %5 = tile.load %even[%z, %z] masked : !G -> !T
    %6 = tile.load %offset[%z, %z] : memref<?x?xf16, strided<[?, 1], offset: 4>> -> !T
    %7 = tile.load %apart[%z, %z] : !S -> !T

    // No wider than a row of the tile; what is said stays; the alignment of what is assumed.
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 2 : i64}
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 1 : i64}
    // CHECK-NEXT: memref.assume_alignment
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {vector = 4 : i64}
    %8 = tile.load %most[%z, %z] : !G -> tensor<8x2xf16>
    %9 = tile.load %most[%z, %z] {vector = 1} : !G -> !T
    %a = memref.assume_alignment %half, 32 : !G
    %10 = tile.load %a[%z, %z] : !G -> !T
    // CHECK-NEXT: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] masked {vector = 2 : i64}
    tile.store %10, %even[%z, %z] masked : !T, !G
    gpu.return
  }

  // Types say as much as attributes; elements of less than a byte are counted in bytes.
  // CHECK-LABEL: gpu.func @static(
  gpu.func @static(%a: memref<64x48xf32> {tile.aligned = 64 : i64}, %v: memref<?xf32> {tile.aligned = 16 : i64},
                   %w: memref<?x?xi8, strided<[?, 1]>> {tile.aligned = 16 : i64, tile.strides = array<i64: 32, 1>})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    // CHECK: masked {vector = 4 : i64} : memref<64x48xf32>
    // CHECK-NEXT: tile.load {{.*}} {vector = 4 : i64} : memref<?xf32>
    // CHECK-NEXT: tile.load {{.*}} {vector = 16 : i64} : memref<?x?xi8
    // CHECK-NEXT: tile.load {{.*}} {vector = 8 : i64} : memref<?x?xi8
    %z = arith.constant 0 : index
    %x = gpu.block_id x
    %0 = tile.load %a[%x, %z] masked : memref<64x48xf32> -> tensor<16x64xf32>
    %1 = tile.load %v[%z] : memref<?xf32> -> tensor<128xf32>
    %2 = tile.load %w[%z, %z] : memref<?x?xi8, strided<[?, 1]>> -> tensor<16x64xi4>
    %3 = tile.load %w[%z, %z] : memref<?x?xi8, strided<[?, 1]>> -> tensor<16x16xi4>
    gpu.return
  }

  // A mask goes where the tile is known to be inside: by numbers, or as a loop that counts up to
  // the size in steps that divide it.
  // CHECK-LABEL: gpu.func @inside(
  gpu.func @inside(%a: memref<64x64xf16>, %v: memref<?xf16> {tile.sizes = array<i64: 64>}, %n: index)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 4, 5, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c60 = arith.constant 60 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c16 : index
    %row = arith.muli %y, %c16 : index
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}]
    // CHECK-NEXT: masked
    // CHECK: scf.for
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %{{.*}}]
    // CHECK-NEXT: masked
    // CHECK: scf.for
    // CHECK-NEXT: tile.load %{{.*}}[%{{.*}}]
    // CHECK-NEXT: masked
    // CHECK: scf.for
    // CHECK-NEXT: masked
    %0 = tile.load %a[%c0, %col] masked : memref<64x64xf16> -> tensor<64x16xf16>
    %1 = tile.load %a[%row, %c0] masked : memref<64x64xf16> -> tensor<16x64xf16>
    scf.for %k = %c0 to %c60 step %c16 {
      %2 = tile.load %a[%k, %c0] masked : memref<64x64xf16> -> tensor<16x64xf16>
      %3 = tile.load %a[%k, %c0] masked : memref<64x64xf16> -> tensor<32x64xf16>
    }
    %size = memref.dim %v, %c0 : memref<?xf16>
    scf.for %k = %c0 to %size step %c32 {
      %4 = tile.load %v[%k] masked : memref<?xf16> -> tensor<32xf16>
      %5 = tile.load %v[%k] masked : memref<?xf16> -> tensor<128xf16>
    }
    scf.for %k = %c0 to %n step %c32 {
      %6 = tile.load %v[%k] masked : memref<?xf16> -> tensor<32xf16>
    }
    gpu.return
  }

  // Later levels say for themselves.
  // CHECK-LABEL: gpu.func @layouts(
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] masked
  gpu.func @layouts(%a: memref<16x16xf16> {tile.aligned = 16 : i64}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %0 = tile.load %a[%z, %z] masked : memref<16x16xf16> -> !L
    gpu.return
  }

  // Of two arrays what holds of both, and of the one that was chosen what is said of it.
  // CHECK-LABEL: gpu.func @chosen(
  // CHECK: tile.load %{{.*}} {vector = 4 : i64} : memref<64x64xf16>
  // CHECK: tile.load %{{.*}} {vector = 8 : i64} : memref<64x64xf16>
  gpu.func @chosen(%c: i1, %a: memref<64x64xf16> {tile.aligned = 16 : i64}, %b: memref<64x64xf16> {tile.aligned = 8 : i64}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %either = arith.select %c, %a, %b : memref<64x64xf16>
    %0 = tile.load %either[%z, %z] : memref<64x64xf16> -> tensor<16x64xf16>
    %said = memref.assume_alignment %either, 16 : memref<64x64xf16>
    %1 = tile.load %said[%z, %z] : memref<64x64xf16> -> tensor<16x64xf16>
    gpu.return
  }
}
