// The flags that show what the compiler does.
// RUN: tilec %S/Inputs/scale.mlir -o %t.ptx --verify-each --mlir-print-ir-after=tile-kernel-abi 2>&1 | FileCheck %s
// RUN: tilec %S/Inputs/scale.mlir -o %t.ptx --mlir-timing 2>&1 | FileCheck %s --check-prefix=TIMING
// RUN: not tilec %s --mlir-pass-pipeline-crash-reproducer=%t.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not tile-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN

// CHECK: // -----// IR Dump After KernelAbi: tile-kernel-abi //----- //
// TIMING: parse
// TIMING: tile-kernel-abi
// TIMING: LLVM to PTX
// ERROR: tilec-watching.mlir:{{[0-9]+}}:3: error: 'gpu.func' op cannot take an argument
// AGAIN: error: 'gpu.func' op cannot take an argument
gpu.module @m {
  gpu.func @k(%v: vector<4xf32>) kernel {
    gpu.return
  }
}
