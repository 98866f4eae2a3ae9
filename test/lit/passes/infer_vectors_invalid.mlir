// RUN: tile-opt %s --tile-infer-vectors --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op argument 0: tile.aligned must be a positive integer, not 0 : i64}}
  gpu.func @zero(%a: memref<16x16xf16> {tile.aligned = 0 : i64}) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op argument 1: tile.aligned must be a positive integer, not "16"}}
  gpu.func @text(%n: index, %a: memref<16x16xf16> {tile.aligned = "16"}) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op argument 0: tile.strides must be array<i64: …>, not [8, 1]}}
  gpu.func @list(%a: memref<?x?xf16> {tile.strides = [8, 1]}) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op argument 0: tile.sizes must be 2 positive numbers, one per dimension: array<i64: 8>}}
  gpu.func @rank(%a: memref<?x?xf16> {tile.sizes = array<i64: 8>}) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op argument 0: tile.sizes guarantees a multiple of 32 for dimension 0 of memref<48x64xf32>, which contradicts it}}
  gpu.func @against_its_type(%a: memref<48x64xf32> {tile.sizes = array<i64: 32, 1>}) kernel { gpu.return }
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op argument 0: tile.strides guarantees a multiple of 8 for dimension 1 of memref<?x?xf32, strided<[?, 1]>>}}
  gpu.func @contiguous(%a: memref<?x?xf32, strided<[?, 1]>> {tile.strides = array<i64: 1, 8>}) kernel { gpu.return }
}
