// RUN: tile-opt %s --tile-from-linalg=tile-k=48 --split-input-file --verify-diagnostics
// RUN: not tile-opt %s --tile-from-linalg=warps=8 2>&1 | FileCheck %s

// CHECK: error: 'linalg.matmul' op its kernel's known_block_size is of 4 warps, not 8
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16>, %c: memref<?x?xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{'linalg.matmul' op tile-k must be a power of two, not 48}}
    linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf16>)
    gpu.return
  }
}
