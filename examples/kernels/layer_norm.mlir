// RUN: tilec %s --target sm_80 | FileCheck %s
//
// Layer norm of each row of a matrix: (x - mean) / sqrt(variance + epsilon) · weight + bias, f16 in
// and out, sums in f32, any number of columns. A CTA of 4 warps takes one row, 1024 columns at a
// time, in two passes over it: mean and variance first, by sums of x and of x². The grid is (rows).

!Half = tensor<1024xf16>
!Float = tensor<1024xf32>
!Matrix = memref<?x?xf16, strided<[?, 1]>>
!Vector = memref<?xf16>

// CHECK: shfl.sync.bfly
// CHECK: sqrt.rn.f32

gpu.module @layer_norm [#nvvm.target<chip = "sm_80">] {
  gpu.func @layer_norm(%x: !Matrix {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %weight: !Vector {tile.aligned = 16 : i64},
                       %bias: !Vector {tile.aligned = 16 : i64},
                       %y: !Matrix {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %epsilon: f32)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %one = arith.constant 1.0 : f32
    %row = gpu.block_id x
    %cols = memref.dim %x, %c1 : !Matrix

    %zero = arith.constant dense<0.0> : !Float
    %sums, %squares = scf.for %col = %c0 to %cols step %c1024
        iter_args(%sum = %zero, %square = %zero) -> (!Float, !Float) {
      %half = tile.load %x[%row, %col] masked : !Matrix -> !Half
      %value = arith.extf %half : !Half to !Float
      %more = arith.addf %sum, %value : !Float
      %power = math.fma %value, %value, %square : !Float
      scf.yield %more, %power : !Float, !Float
    }
    %total = tile.reduce arith.addf %sums axis 0 : !Float -> f32
    %power = tile.reduce arith.addf %squares axis 0 : !Float -> f32
    %count = arith.index_cast %cols : index to i32
    %n = arith.sitofp %count : i32 to f32
    %mean = arith.divf %total, %n : f32
    %mean_square = arith.divf %power, %n : f32
    %square_mean = arith.mulf %mean, %mean : f32
    %variance = arith.subf %mean_square, %square_mean : f32
    %steady = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %steady : f32
    %means = tile.fill %mean : f32 -> !Float
    %scales = tile.fill %scale : f32 -> !Float

    scf.for %col = %c0 to %cols step %c1024 {
      %half = tile.load %x[%row, %col] masked : !Matrix -> !Half
      %value = arith.extf %half : !Half to !Float
      %w16 = tile.load %weight[%col] masked : !Vector -> !Half
      %w = arith.extf %w16 : !Half to !Float
      %b16 = tile.load %bias[%col] masked : !Vector -> !Half
      %b = arith.extf %b16 : !Half to !Float
      %centred = arith.subf %value, %means : !Float
      %normal = arith.mulf %centred, %scales : !Float
      %result = math.fma %normal, %w, %b : !Float
      %out = arith.truncf %result : !Float to !Half
      tile.store %out, %y[%row, %col] masked : !Half, !Matrix
    }
    gpu.return
  }
}
