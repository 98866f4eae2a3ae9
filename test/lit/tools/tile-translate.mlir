// RUN: tile-translate %s -mlir-to-llvmir -split-input-file | FileCheck %s
// RUN: tile-opt %s -split-input-file | tile-translate --mlir-to-llvmir --split-input-file | FileCheck %s
// RUN: not tile-translate %s -serialize-spirv 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tile-translate %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tile-translate %S/Inputs/scale.mlir -mlir-to-llvmir 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: tile-translate %S/Inputs/untranslatable.mlir -mlir-to-llvmir -verify-diagnostics

// UNKNOWN: error: unrecognized argument: --serialize-spirv
// NONE: error: say which translation: --mlir-to-llvmir
// DIALECT: scale.mlir:{{[0-9]+}}:{{[0-9]+}}: error: unsupported GPU operation: gpu.func

// CHECK: define i32 @double(i32 %0)
// CHECK: add i32 %0, %0
llvm.func @double(%a: i32) -> i32 {
  %b = llvm.add %a, %a : i32
  llvm.return %b : i32
}

// -----

// A program of a gpu.module alone is that.
// CHECK: define ptx_kernel void @k(ptr addrspace(1) %0)
// CHECK: call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
gpu.module @m {
  llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    llvm.store %t, %p : i32, !llvm.ptr<1>
    llvm.return
  }
}
