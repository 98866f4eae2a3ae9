// Passes of tilec and of upstream in one pipeline, with and without the wrapper, and as flags.
// RUN: tile-opt %s --pass-pipeline='builtin.module(canonicalize,tile-kernel-abi,gpu.module(cse))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='canonicalize,tile-kernel-abi' | FileCheck %s
// RUN: tile-opt %s --canonicalize=max-iterations=3 --tile-kernel-abi | FileCheck %s

// CHECK-LABEL: gpu.module @m
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK: gpu.func @add(%{{[A-Za-z0-9_]+}}: i64, %{{[A-Za-z0-9_]+}}: !llvm.ptr<1>) kernel
  gpu.func @add(%n: index, %p: !llvm.ptr<1>) kernel {
    // CHECK-NOT: arith.addi
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %sum = arith.addi %one, %zero : i32
    // CHECK: llvm.store
    llvm.store %sum, %p : i32, !llvm.ptr<1>
    gpu.return
  }
}
