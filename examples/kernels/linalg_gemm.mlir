// RUN: tilec %s --target sm_80 | FileCheck %s
//
// C = A·B with f16 in and f32 out, as MLIR says it without tilec: a function on memrefs. The pass
// `tile-from-linalg` makes it the kernel of gemm.mlir, instruction for instruction. Tiles, warps
// and grid are its choice: `--remarks` says which, and `Compiled.launch` and `tile-run` need no grid.
//
// The attributes of the arguments are promises, as in gemm.mlir.

!Input = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

func.func @linalg_gemm(%a: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %b: !Input {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %c: !Result {llvm.noalias, tile.aligned = 16 : i64, tile.strides = array<i64: 4, 1>}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : !Result)
  linalg.matmul ins(%a, %b : !Input, !Input) outs(%c : !Result)
  return
}

// CHECK-COUNT-8: cp.async.cg.shared.global
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
