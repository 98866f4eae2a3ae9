// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = gelu(A·B + bias) with f16 in and out, for any M and K, and N a multiple of 8. What follows the product is
// computed in the accumulators' layout; the result, half as wide, goes through shared memory so
// that its rows are stored 16 bytes a thread. The grid is (ceil(N / 128), ceil(M / 128)).
//
// gelu by its usual approximation: x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).

!A = tensor<128x64xf16>
!B = tensor<64x128xf16>
!C = tensor<128x128xf32>
!Row = tensor<128xf16>
!Out = tensor<128x128xf16>
!Matrix = memref<?x?xf16, strided<[?, 1]>>
!Vector = memref<?xf16>

// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: ex2.approx
// CHECK: st.global.v4.b32

gpu.module @fused_gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @fused_gemm(%a: !Matrix {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %b: !Matrix {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %bias: !Vector {tile.aligned = 16 : i64},
                       %c: !Matrix {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>,
                                    tile.sizes = array<i64: 1, 8>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index

    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Matrix

    %zero = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!C) {
      %ta = tile.load %a[%row, %k] masked : !Matrix -> !A
      %tb = tile.load %b[%k, %col] masked : !Matrix -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }

    %bias16 = tile.load %bias[%col] masked : !Vector -> !Row
    %bias32 = arith.extf %bias16 : !Row to tensor<128xf32>
    %bias_row = tile.expand %bias32 axis 0 : tensor<128xf32> -> tensor<1x128xf32>
    %biases = tile.broadcast %bias_row : tensor<1x128xf32> -> !C
    %v = arith.addf %product, %biases : !C

    %half = arith.constant dense<0.5> : !C
    %one = arith.constant dense<1.0> : !C
    %cubic = arith.constant dense<0.044715> : !C
    %slope = arith.constant dense<0.7978845608> : !C
    %v2 = arith.mulf %v, %v : !C
    %v3 = arith.mulf %v2, %v : !C
    %inner = math.fma %v3, %cubic, %v : !C
    %angle = arith.mulf %inner, %slope : !C
    %tanh = math.tanh %angle : !C
    %weight = arith.addf %tanh, %one : !C
    %v_half = arith.mulf %v, %half : !C
    %gelu = arith.mulf %v_half, %weight : !C
    %out = arith.truncf %gelu : !C to !Out
    tile.store %out, %c[%row, %col] masked : !Out, !Matrix
    gpu.return
  }
}
