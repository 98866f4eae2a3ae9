// Places are those of the file that is read, and stay so when the output is read again.
// RUN: tile-opt %s -mlir-print-debuginfo | FileCheck %s
// RUN: tile-opt %s -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL
// RUN: tile-opt %s -mlir-print-debuginfo -o %t.mlir
// RUN: not tile-opt %t.mlir -tile-kernel-abi 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: tile-opt %s -emit-bytecode -o %t.mlirbc
// RUN: not tile-opt %t.mlirbc -tile-kernel-abi 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: tile-opt -mlir-print-debuginfo < %s | FileCheck %s --check-prefix=STDIN
// RUN: tile-opt %s -mlir-print-ir-after-all -mlir-print-debuginfo -cse -o %t 2>&1 | FileCheck %s

// CHECK-NOT: loc("-"
// CHECK: loc("{{.*}}tile-opt-debuginfo.mlir":{{[0-9]+}}:3)
// LOCAL: gpu.func @k{{.*}}: vector<4xf32> loc("{{.*}}tile-opt-debuginfo.mlir":
// AGAIN: {{.*}}tile-opt-debuginfo.mlir:{{[0-9]+}}:3: error: 'gpu.func' op cannot take an argument
// AGAIN-NEXT: gpu.func @k
// STDIN: loc("<stdin>":
gpu.module @m {
  // The string is none: "-":1:2
  gpu.func @k(%v: vector<4xf32>) kernel attributes {why = "-:1:2"} {
    gpu.return
  }
}
