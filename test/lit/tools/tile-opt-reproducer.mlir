// A failing pipeline leaves a reproducer, which tile-opt runs; a pipeline that succeeds leaves none.
// RUN: rm -f %t.mlir %t.ok.mlir
// RUN: not tile-opt %s --canonicalize --tile-kernel-abi --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE --input-file %t.mlir
// RUN: not tile-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: tile-opt %s --canonicalize --mlir-pass-pipeline-crash-reproducer=%t.ok.mlir
// RUN: not ls %t.ok.mlir

// CHECK: note: reproducer generated at {{.*}}tile-opt-reproducer
// CHECK: tile-opt-reproducer.mlir:{{[0-9]+}}:3: error: 'gpu.func' op cannot take an argument of type vector<4xf32>
// FILE: gpu.func @k
// FILE: external_resources
// FILE: mlir_reproducer
// FILE: pipeline: "canonicalize,tile-kernel-abi"
// AGAIN: error: 'gpu.func' op cannot take an argument of type vector<4xf32>

// Without a pipeline in the file there is nothing to run.
// RUN: not tile-opt %s --run-reproducer 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the file is not a reproducer
gpu.module @m {
  gpu.func @k(%v: vector<4xf32>) kernel {
    gpu.return
  }
}
