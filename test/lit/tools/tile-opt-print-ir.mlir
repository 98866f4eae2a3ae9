// The IR around passes, all or chosen, of tilec and of upstream, after upstream's banner.
// RUN: tile-opt %s --canonicalize --tile-kernel-abi --mlir-print-ir-after-all -o %t 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: tile-opt %s --pass-pipeline='gpu.module(canonicalize,cse),tile-kernel-abi' --mlir-print-ir-before=cse -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: tile-opt %s --canonicalize --cse --mlir-print-ir-after-change -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: not tile-opt %s --tile-check-target=target=sm_1 --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=FAILURE
// RUN: tile-opt %s --canonicalize --tile-kernel-abi --mlir-timing -o %t 2>&1 | FileCheck %s --check-prefix=TIMING

// A nested pass is seen at work on each op; the whole module is printed on request.
// RUN: tile-opt %s -canonicalize -convert-gpu-to-nvvm -mlir-print-ir-after=convert-gpu-to-nvvm -o %t 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: tile-opt %s -p 'gpu.module(gpu.func(tile-kernel-abi))' -mlir-print-ir-after-all -mlir-print-ir-module-scope -o %t 2>&1 | FileCheck %s --check-prefix=SCOPE

// NESTED-NOT: Canonicalizer
// NESTED: // -----// IR Dump After ConvertGpuOpsToNVVMOps: convert-gpu-to-nvvm{{.*}} //----- //
// NESTED-NEXT: gpu.module @m {
// NESTED: llvm.func @k

// SCOPE: // -----// IR Dump After KernelAbi: tile-kernel-abi ('gpu.func' operation: @k) //----- //
// SCOPE-NEXT: module {
// SCOPE-NEXT: gpu.module @m {
// SCOPE-NEXT: gpu.func @k(%{{[A-Za-z0-9_]+}}: i64)

// A folder an op, a number a pass, as upstream names them.
// RUN: rm -rf %t.tree
// RUN: tile-opt %s -canonicalize -convert-gpu-to-nvvm -tile-check-target=target=sm_80 -mlir-print-ir-after-all -mlir-print-ir-tree-dir=%t.tree -o %t
// RUN: FileCheck %s --check-prefix=TREE --input-file %t.tree/builtin_module_no-symbol-name/gpu_module_m/0_0_convert-gpu-to-nvvm.mlir
// RUN: FileCheck %s --check-prefix=SECOND --input-file %t.tree/builtin_module_no-symbol-name/1_tile-check-target.mlir
// TREE: // -----// IR Dump After ConvertGpuOpsToNVVMOps
// TREE: llvm.func @k
// SECOND: // -----// IR Dump After CheckTarget: tile-check-target{target=sm_80} //----- //

// ALL: // -----// IR Dump After CanonicalizerPass: canonicalize{{.*}} //----- //
// ALL: gpu.func @k(%{{[A-Za-z0-9_]+}}: index)
// ALL: // -----// IR Dump After KernelAbi: tile-kernel-abi //----- //
// ALL: gpu.func @k(%{{[A-Za-z0-9_]+}}: i64)

// BEFORE-NOT: Dump After
// BEFORE: // -----// IR Dump Before CSEPass: cse //----- //
// BEFORE-NEXT: gpu.module @m {
// BEFORE-NOT: IR Dump

// CHANGE: IR Dump After CanonicalizerPass: canonicalize
// CHANGE-NOT: CSEPass

// FAILURE: IR Dump After CheckTarget Failed: tile-check-target{target=sm_1}

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
