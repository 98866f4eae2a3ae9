// Passes put before one of the target's pipeline, or in its place, on the command line; they are applied in order.
// RUN: tilec %s --emit tile --insert-pass='tile-check-target=canonicalize,cse' --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: tilec %s --emit nvvm --replace-pass=tile-remove-dead= --replace-pass tile-unroll='canonicalize{max-iterations=3}' --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=REPLACE
// RUN: tilec %s --emit nvvm --insert-pass=cse=symbol-dce --replace-pass=symbol-dce=sccp --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not tilec %s --replace-pass=tile-remove-ded= 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tilec %s --insert-pass=tile-unroll=canonicalise 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not tilec %s --insert-pass=tile-unroll 2>&1 | FileCheck %s --check-prefix=USAGE

// INSERT: IR Dump After Rasterize
// INSERT: IR Dump After CanonicalizerPass
// INSERT: IR Dump After CSEPass
// INSERT: IR Dump After CheckTarget

// REPLACE-NOT: tile-unroll
// REPLACE-NOT: tile-remove-dead
// REPLACE: IR Dump After CanonicalizerPass: canonicalize{{.*}}max-iterations=3
// REPLACE-NOT: tile-remove-dead
// REPLACE: IR Dump After StageReductions

// ORDER-NOT: symbol-dce
// ORDER: IR Dump After SCCP
// ORDER: IR Dump After CSEPass

// UNKNOWN: error: unknown pass of the pipeline 'tile-remove-ded'; nearest legal: tile-remove-dead
// PASS: error: unknown pass 'canonicalise'; nearest: canonicalize
// USAGE: error: argument --insert-pass: expected NAME=PASSES, not 'tile-unroll'
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = arith.constant 0 : index
    %0 = tile.load %a[%i, %i] : memref<64x64xf32> -> tensor<64x64xf32>
    tile.store %0, %a[%i, %i] : tensor<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
