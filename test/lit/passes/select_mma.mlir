// RUN: tile-opt %s --tile-select-mma | FileCheck %s

!F = tensor<128x64xf32>
!H = tensor<128x64xf16>

gpu.module @sm_80 [#nvvm.target<chip = "sm_80">] {
  // Eight warps on 128x128: the longest K, and of the grids that read least the one with most
  // warps along M.
  // CHECK-LABEL: gpu.func @half(
  // CHECK: tile.dot{{.*}}form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", warps = array<i64: 4, 2>
  gpu.func @half(%g: memref<128x64xf16>, %h: memref<64x128xf16>, %c: memref<128x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %g[%z, %z] : memref<128x64xf16> -> tensor<128x64xf16>
    %b = tile.load %h[%z, %z] : memref<64x128xf16> -> tensor<64x128xf16>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %d = tile.dot %a, %b, %zero : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    tile.store %d, %c[%z, %z] : tensor<128x128xf32>, memref<128x128xf32>
    gpu.return
  }

  // Four warps on 64x128: of a B that is cast each warp takes columns of its own.
  // CHECK-LABEL: gpu.func @cast(
  // CHECK: tile.dot{{.*}}warps = array<i64: 1, 4>
  gpu.func @cast(%g: memref<64x64xf16>, %h: memref<64x128xi8>, %c: memref<64x128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %g[%z, %z] : memref<64x64xf16> -> tensor<64x64xf16>
    %w = tile.load %h[%z, %z] : memref<64x128xi8> -> tensor<64x128xi8>
    %b = arith.sitofp %w : tensor<64x128xi8> to tensor<64x128xf16>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    %d = tile.dot %a, %b, %zero : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    tile.store %d, %c[%z, %z] : tensor<64x128xf32>, memref<64x128xf32>
    gpu.return
  }

  // What is pinned stays.
  // CHECK-LABEL: gpu.func @pinned(
  // CHECK: tile.dot{{.*}}form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", warps = array<i64: 1, 2>
  gpu.func @pinned(%a: memref<32x16xf16>, %b: memref<16x32xf16>, %c: memref<32x32xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %x = tile.load %a[%z, %z] : memref<32x16xf16> -> tensor<32x16xf16>
    %y = tile.load %b[%z, %z] : memref<16x32xf16> -> tensor<16x32xf16>
    %s = tile.load %c[%z, %z] : memref<32x32xf32> -> tensor<32x32xf32>
    %d = tile.dot %x, %y, %s {form = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", warps = array<i64: 1, 2>} : tensor<32x16xf16>, tensor<16x32xf16>, tensor<32x32xf32>
    tile.store %d, %c[%z, %z] : tensor<32x32xf32>, memref<32x32xf32>
    gpu.return
  }

  // A result that is A of the next product: each warp keeps whole rows.
  // CHECK-LABEL: gpu.func @chained(
  // CHECK: tile.dot{{.*}}warps = array<i64: 4, 1>
  // CHECK: tile.dot{{.*}}warps = array<i64: 4, 1>
  gpu.func @chained(%q: memref<128x64xf16>, %k: memref<64x64xf16>, %o: memref<128x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %q[%z, %z] : memref<128x64xf16> -> !H
    %b = tile.load %k[%z, %z] : memref<64x64xf16> -> tensor<64x64xf16>
    %zero = arith.constant dense<0.0> : !F
    %s = tile.dot %a, %b, %zero : !H, tensor<64x64xf16>, !F
    %e = math.exp2 %s : !F
    %p = arith.truncf %e : !F to !H
    %d = tile.dot %p, %b, %zero : !H, tensor<64x64xf16>, !F
    tile.store %d, %o[%z, %z] : !F, memref<128x64xf32>
    gpu.return
  }
}
