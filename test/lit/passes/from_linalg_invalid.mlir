// RUN: tile-opt %s --tile-from-linalg --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op has tensors, tensor<4x4xf16>; a kernel works on memrefs: bufferize the program first (one-shot-bufferize)}}
func.func @tensors(%a: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>) outs(%a : tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}

// -----

// expected-error@+1 {{'func.func' op returns index; a kernel writes results to memrefs}}
func.func @result(%a: memref<?x?xf16>, %n: index) -> index {
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%a : memref<?x?xf16>)
  return %n : index
}

// -----

// expected-error@+1 {{'func.func' op has several blocks; to be made a kernel it must have one}}
func.func @blocks(%a: memref<?x?xf16>) {
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%a : memref<?x?xf16>)
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error@+1 {{'func.func' op is called; it becomes a kernel, which is launched instead}}
func.func @callee(%a: memref<?x?xf16>) {
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%a : memref<?x?xf16>)
  return
}
func.func @caller(%a: memref<?x?xf16>) {
  // expected-note@+1 {{here}}
  func.call @callee(%a) : (memref<?x?xf16>) -> ()
  return
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op is not a kernel; a linalg op is executed by all CTAs of one}}
  gpu.func @device(%a: memref<?x?xf16>) {
    linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%a : memref<?x?xf16>)
    gpu.return
  }
}

// -----

func.func @two(%a: memref<?x?xf16>, %b: memref<?x?xf16>) {
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%b : memref<?x?xf16>)
  // expected-error@+1 {{'linalg.matmul' op is the second in its kernel, whose CTAs do not wait for each other; put each into a separate kernel}}
  linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%a : memref<?x?xf16>)
  return
}

// -----

func.func @late_fill(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %s: f16) {
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%b : memref<?x?xf16>)
  // expected-error@+1 {{'linalg.fill' op follows the product; legal: before it}}
  linalg.fill ins(%s : f16) outs(%b : memref<?x?xf16>)
  return
}

// -----

func.func @other_fill(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %s: f16) {
  linalg.fill ins(%s : f16) outs(%a : memref<?x?xf16>)
  // expected-error@+1 {{'linalg.matmul' op follows a linalg.fill of a value other than its result}}
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%b : memref<?x?xf16>)
  return
}

// -----

func.func @only_fill(%a: memref<?x?xf16>, %s: f16) {
  // expected-error@+1 {{'linalg.fill' op fills the result of no product; legal: linalg.matmul, linalg.batch_matmul, linalg.contract, linalg.generic}}
  linalg.fill ins(%s : f16) outs(%a : memref<?x?xf16>)
  return
}

// -----

func.func @beside(%a: memref<?x?xf16>, %b: memref<?x?xf16>) {
  // expected-error@+1 {{'memref.copy' op is in a kernel with a linalg op; other legal ops are: linalg.fill of its result before it, arith ops, affine ops on indices, views of memrefs}}
  memref.copy %a, %b : memref<?x?xf16> to memref<?x?xf16>
  linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%b : memref<?x?xf16>)
  return
}

// -----

func.func @loop(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %n: index) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op is in a kernel with a linalg op}}
  scf.for %i = %c1 to %n step %c1 {
    linalg.matmul ins(%a, %a : memref<?x?xf16>, memref<?x?xf16>) outs(%b : memref<?x?xf16>)
  }
  return
}

// -----

func.func @convolution(%a: memref<8xf32>, %b: memref<3xf32>, %c: memref<6xf32>) {
  // expected-error@+1 {{'linalg.conv_1d' op is not known to multiply matrices; legal: linalg.matmul, linalg.batch_matmul, linalg.contract, linalg.generic}}
  linalg.conv_1d ins(%a, %b : memref<8xf32>, memref<3xf32>) outs(%c : memref<6xf32>)
  return
}

// -----

func.func @vectors(%a: memref<?x?xf16>, %b: memref<?xf16>, %c: memref<?xf32>) {
  // expected-error@+1 {{'linalg.contract' op takes or gives something of rank 1; the last two dimensions of operands and result, in either order, are a matrix}}
  linalg.contract indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>]
      ins(%a, %b : memref<?x?xf16>, memref<?xf16>) outs(%c : memref<?xf32>)
  return
}

// -----

func.func @two_sums(%a: memref<?x?x?xf16>, %b: memref<?x?x?xf16>, %c: memref<?x?xf32>) {
  // expected-error@+1 {{'linalg.contract' op sums over 2 of its loops; a product of matrices sums over one}}
  linalg.contract indexing_maps = [affine_map<(m, n, k, l) -> (l, m, k)>, affine_map<(m, n, k, l) -> (l, k, n)>,
                                   affine_map<(m, n, k, l) -> (m, n)>]
      ins(%a, %b : memref<?x?x?xf16>, memref<?x?x?xf16>) outs(%c : memref<?x?xf32>)
  return
}

// -----

func.func @batch_last(%a: memref<?x?x?xf16>, %b: memref<?x?x?xf16>, %c: memref<?x?x?xf32>) {
  // expected-error@+1 {{'linalg.contract' op is not a product of matrices MxK and KxN; the last two dimensions of operands and result, in either order, are a matrix}}
  linalg.contract indexing_maps = [affine_map<(m, n, k, i) -> (m, k, i)>, affine_map<(m, n, k, i) -> (k, n, i)>,
                                   affine_map<(m, n, k, i) -> (m, n, i)>]
      ins(%a, %b : memref<?x?x?xf16>, memref<?x?x?xf16>) outs(%c : memref<?x?x?xf32>)
  return
}

// -----

func.func @convolved(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.generic' op is indexed by (d0, d1, d2) -> (d0 + d2, d2); each dimension must be one of the loops}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m + k, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %product = arith.mulf %x, %y : f16
    %next = arith.addf %sum, %product : f16
    linalg.yield %next : f16
  }
  return
}

// -----

func.func @three(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.generic' op has 1 input; a product of matrices has two}}
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x?xf16>) outs(%c : memref<?x?xf16>) {
  ^bb0(%x: f16, %sum: f16):
    linalg.yield %x : f16
  }
  return
}

// -----

func.func @largest(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.generic' op computes 'arith.maximumf' instead of arith.addf or arith.addi; legal: the product of both inputs}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %product = arith.mulf %x, %y : f16
    %next = arith.maximumf %sum, %product : f16
    linalg.yield %next : f16
  }
  return
}

// -----

func.func @square(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.generic' op does not multiply its inputs; legal: the product of both inputs}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %product = arith.mulf %x, %x : f16
    %next = arith.addf %sum, %product : f16
    linalg.yield %next : f16
  }
  return
}

// -----

func.func @overwrites(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.generic' op does not add to its result; legal: the product of both inputs}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    %product = arith.mulf %x, %y : f16
    %next = arith.addf %x, %product : f16
    linalg.yield %next : f16
  }
  return
}

// -----

func.func @input(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.generic' op yields an argument of its body; legal: the product of both inputs}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %sum: f16):
    linalg.yield %x : f16
  }
  return
}

// -----

func.func @narrowed(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf16>) {
  // expected-error@+1 {{'linalg.matmul' op multiplies what 'arith.truncf' gives; legal: the product of both inputs}}
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf16>)
  return
}

// -----

func.func @f32(%a: memref<?x?xf32>, %c: memref<?x?xf32>) {
  // expected-error@+1 {{'linalg.matmul' op multiplies f32 by f32, which no instruction does; with the attribute tile.tf32 one multiplies them as tf32}}
  linalg.matmul ins(%a, %a : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// -----

func.func @types(%a: memref<?x?xi8>, %c: memref<?x?xi8>) {
  // expected-error@+1 {{'linalg.matmul' op multiplies i8 by i8 to i8, which no instruction does; legal: bf16 by bf16 to f32, f16 by f16 to f16 or f32,}}
  linalg.matmul ins(%a, %a : memref<?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?xi8>)
  return
}

// -----

func.func @layout(%a: memref<4x4xf16, affine_map<(i, j) -> (i * 8 + j mod 3)>>, %c: memref<4x4xf16>) {
  // expected-error@+1 {{'linalg.matmul' op operand must have a layout of strides}}
  linalg.matmul ins(%a, %c : memref<4x4xf16, affine_map<(i, j) -> (i * 8 + j mod 3)>>, memref<4x4xf16>) outs(%c : memref<4x4xf16>)
  return
}
