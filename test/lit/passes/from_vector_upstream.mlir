// RUN: tile-opt %s --transform-interpreter --tile-from-vector | FileCheck %s

// What upstream's vectorizer makes of a product in linalg, as a whole.
module attributes {transform.with_named_sequence} {
  gpu.module @m {
    // CHECK: gpu.func @product(%[[A:.*]]: memref<64x32xf16>, %[[B:.*]]: memref<32x64xf16>, %[[C:.*]]: memref<64x64xf32>)
    // CHECK: %[[X:.*]] = tile.load %[[A]][%c0, %c0]
    // CHECK-NEXT: %[[Y:.*]] = tile.load %[[B]][%c0, %c0]
    // CHECK-NEXT: %[[Z:.*]] = tile.load %[[C]][%c0, %c0]
    // CHECK-NEXT: %[[D:.*]] = tile.dot %[[X]], %[[Y]], %[[Z]] : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32>
    // CHECK-NEXT: tile.store %[[D]], %[[C]][%c0, %c0]
    gpu.func @product(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>) kernel {
      linalg.matmul ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>)
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %kernel = transform.structured.match ops{["gpu.func"]} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.structured.vectorize_children_and_apply_patterns %kernel
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
