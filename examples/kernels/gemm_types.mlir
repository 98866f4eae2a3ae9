// RUN: tilec %s --target sm_80 | FileCheck %s
//
// The GEMM of gemm.mlir with other elements: bf16, tf32 (f32 in memory, of which the instruction
// takes the upper 19 bits) and f64. Tiles are smaller where elements are larger. The grid is
// (ceil(N / tile), ceil(M / tile)), tiles being 128x128, 128x128 and 64x64.

!Bf16 = memref<?x?xbf16, strided<[?, 1]>>
!F32 = memref<?x?xf32, strided<[?, 1]>>
!F64 = memref<?x?xf64, strided<[?, 1]>>

// CHECK-LABEL: .entry gemm_bf16
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-LABEL: .entry gemm_tf32
// CHECK: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CHECK-LABEL: .entry gemm_f64
// CHECK: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64

gpu.module @gemm_types [#nvvm.target<chip = "sm_80">] {
  gpu.func @gemm_bf16(%a: !Bf16 {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                      %b: !Bf16 {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                      %c: !F32 {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !Bf16
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %product = scf.for %k = %c0 to %depth step %c64
        iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !Bf16 -> tensor<128x64xbf16>
      %tb = tile.load %b[%k, %col] masked : !Bf16 -> tensor<64x128xbf16>
      %next = tile.dot %ta, %tb, %sum
          : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    tile.store %product, %c[%row, %col] masked : tensor<128x128xf32>, !F32
    gpu.return
  }

  gpu.func @gemm_tf32(%a: !F32 {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>},
                      %b: !F32 {tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>},
                      %c: !F32 {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c128 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !F32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %product = scf.for %k = %c0 to %depth step %c32
        iter_args(%sum = %zero) -> (tensor<128x128xf32>) {
      %ta = tile.load %a[%row, %k] masked : !F32 -> tensor<128x32xtf32>
      %tb = tile.load %b[%k, %col] masked : !F32 -> tensor<32x128xtf32>
      %next = tile.dot %ta, %tb, %sum
          : tensor<128x32xtf32>, tensor<32x128xtf32>, tensor<128x128xf32>
      scf.yield %next : tensor<128x128xf32>
    }
    tile.store %product, %c[%row, %col] masked : tensor<128x128xf32>, !F32
    gpu.return
  }

  gpu.func @gemm_f64(%a: !F64 {tile.aligned = 16 : i64, tile.strides = array<i64: 2, 1>},
                     %b: !F64 {tile.aligned = 16 : i64, tile.strides = array<i64: 2, 1>},
                     %c: !F64 {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 2, 1>})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c64 : index
    %row = arith.muli %y, %c64 : index
    %depth = memref.dim %a, %c1 : !F64
    %zero = arith.constant dense<0.0> : tensor<64x64xf64>
    %product = scf.for %k = %c0 to %depth step %c16
        iter_args(%sum = %zero) -> (tensor<64x64xf64>) {
      %ta = tile.load %a[%row, %k] masked : !F64 -> tensor<64x16xf64>
      %tb = tile.load %b[%k, %col] masked : !F64 -> tensor<16x64xf64>
      %next = tile.dot %ta, %tb, %sum : tensor<64x16xf64>, tensor<16x64xf64>, tensor<64x64xf64>
      scf.yield %next : tensor<64x64xf64>
    }
    tile.store %product, %c[%row, %col] masked : tensor<64x64xf64>, !F64
    gpu.return
  }
}
