// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = max(A·B + bias, 0) with f16 in and f32 out, in upstream's vectors: what a CTA computes with is a
// vector, as upstream's vectorizer leaves it, and `tile-from-vector` makes tiles of them. The
// transfers pad with zeros what is out of bounds. Tiles of 128x128x64 for 8 warps; the grid is
// (ceil(N / 128), ceil(M / 128)).

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

!A = vector<128x64xf16>
!B = vector<64x128xf16>
!C = vector<128x128xf32>
!Input = memref<?x?xf16, strided<[?, 1]>>
!Bias = memref<?xf32>
!Result = memref<?x?xf32, strided<[?, 1]>>

gpu.module @vector_gemm [#nvvm.target<chip = "sm_80">] {
  gpu.func @vector_gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                        %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                        %bias: !Bias {tile.aligned = 16 : i64},
                        %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero16 = arith.constant 0.0 : f16
    %zero32 = arith.constant 0.0 : f32

    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Input

    %zeros = arith.constant dense<0.0> : !C
    %product = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zeros) -> (!C) {
      %va = vector.transfer_read %a[%row, %k], %zero16 : !Input, !A
      %vb = vector.transfer_read %b[%k, %col], %zero16 : !Input, !B
      %next = vector.contract {indexing_maps = [#a, #b, #c], kind = #vector.kind<add>,
                               iterator_types = ["parallel", "parallel", "reduction"]}
          %va, %vb, %sum : !A, !B into !C
      scf.yield %next : !C
    }

    %row_of_bias = vector.transfer_read %bias[%col], %zero32 : !Bias, vector<128xf32>
    %biases = vector.broadcast %row_of_bias : vector<128xf32> to !C
    %biased = arith.addf %product, %biases : !C
    %result = arith.maximumf %biased, %zeros : !C
    vector.transfer_write %result, %c[%row, %col] : !C, !Result
    gpu.return
  }
}

// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CHECK: max
