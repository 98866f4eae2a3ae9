// The IR around passes, all or chosen, of tilec and of upstream, after upstream's banner.
// RUN: tile-opt %s --canonicalize --tile-kernel-abi --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: tile-opt %s --pass-pipeline='gpu.module(canonicalize,cse),tile-kernel-abi' --mlir-print-ir-before=cse -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: tile-opt %s --canonicalize --cse --mlir-print-ir-after-change -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: not tile-opt %s --tile-check-target=target=sm_1 --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: tile-opt %s --canonicalize --tile-kernel-abi --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=TIMING

// ALL: // -----// IR Dump After {{[A-Za-z]+}} (canonicalize) //----- //
// ALL: gpu.func @k(%{{[A-Za-z0-9_]+}}: index)
// ALL: // -----// IR Dump After KernelAbi (tile-kernel-abi) //----- //
// ALL: gpu.func @k(%{{[A-Za-z0-9_]+}}: i64)

// BEFORE-NOT: Dump After
// BEFORE: // -----// IR Dump Before {{[A-Za-z]+}} (cse) //----- //
// BEFORE-NOT: IR Dump

// CHANGE: IR Dump After {{[A-Za-z]+}} (canonicalize)
// CHANGE-NOT: (cse)

// FAILURE: IR Dump After CheckTarget Failed (tile-check-target)

// TIMING: ... Execution time report ...
// TIMING: canonicalize
// TIMING: tile-kernel-abi
// TIMING: Total

gpu.module @m {
  gpu.func @k(%n: index) kernel {
    %zero = arith.constant 0 : index
    %sum = arith.addi %n, %zero : index
    gpu.printf "%lld", %sum : index
    gpu.return
  }
}
