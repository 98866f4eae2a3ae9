// Each part is processed by itself; lines are counted in the whole file, and one bad part fails the run.
// RUN: not tile-opt %s --split-input-file -o %t.mlir 2> %t.err
// RUN: FileCheck %s --check-prefix=ERROR --input-file %t.err
// RUN: not ls %t.mlir
// RUN: tile-opt %S/Inputs/scale.mlir --split-input-file | FileCheck %s

// CHECK: gpu.func @scale

func.func @first() {
  return
}

// -----

func.func @second() -> i32 {
  // ERROR: tile-opt-split-input.mlir:17:3: error: 'func.return' op has 0 operands
  return
}
