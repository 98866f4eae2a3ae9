// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = A·(W · scale) with activations of f16 and weights of s4, each column of W with its own scale:
// the weights are widened to f16 between shared memory and the product. Two weights share a byte,
// the one of the lower K low: W is stored as its transpose, NxK/2 bytes. C is f16, the grid
// (ceil(N / 128), ceil(M / 64)).

!A = tensor<64x64xf16>
!W4 = tensor<64x128xi4>
!W = tensor<64x128xf16>
!C = tensor<64x128xf32>
!Scale = tensor<128xf16>
!Out = tensor<64x128xf16>
!Matrix = memref<?x?xf16, strided<[?, 1]>>
!Weights = memref<?x?xi8, strided<[?, 1]>>
!Vector = memref<?xf16>

// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

gpu.module @gemm_int4 [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm_int4(%a: !Matrix {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                      %w: !Weights {tile.aligned = 16 : i64, tile.strides = array<i64: 16, 1>},
                      %scale: !Vector {tile.aligned = 16 : i64},
                      %c: !Matrix {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c64 : index
    %depth = memref.dim %a, %c1 : !Matrix
    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !Matrix -> !A
      %byte = arith.divui %k, %c2 : index
      %w4 = tile.load %w[%col, %byte] masked transposed : !Weights -> !W4
      %tw = arith.sitofp %w4 : !W4 to !W
      %next = tile.dot %ta, %tw, %sum : !A, !W, !C
      scf.yield %next : !C
    }
    %scale16 = tile.load %scale[%col] masked : !Vector -> !Scale
    %scale32 = arith.extf %scale16 : !Scale to tensor<128xf32>
    %scale_row = tile.expand %scale32 axis 0 : tensor<128xf32> -> tensor<1x128xf32>
    %scales = tile.broadcast %scale_row : tensor<1x128xf32> -> !C
    %scaled = arith.mulf %product, %scales : !C
    %out = arith.truncf %scaled : !C to !Out
    tile.store %out, %c[%row, %col] masked : !Out, !Matrix
    gpu.return
  }
}
