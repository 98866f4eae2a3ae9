// A pass given as a flag is nested in the op that it works on; those on kernels may be nested in a pipeline's text.
// RUN: tile-opt %s -convert-gpu-to-nvvm -reconcile-unrealized-casts | FileCheck %s --check-prefix=NVVM
// RUN: not tile-opt %s -p convert-gpu-to-nvvm 2>&1 | FileCheck %s --check-prefix=EXPLICIT
// RUN: tile-opt %s -p 'gpu.module(cse,tile-kernel-abi,canonicalize)' | FileCheck %s --check-prefixes=ABI,CSE
// RUN: tile-opt %s -p 'gpu.module(cse,gpu.func(canonicalize,tile-kernel-abi))' | FileCheck %s --check-prefixes=ABI,CSE
// RUN: tile-opt %s -p 'builtin.module(tile-kernel-abi)' | FileCheck %s --check-prefixes=ABI
// RUN: not tile-opt %s -p 'gpu.module(gpu.func(tile-select-mmma))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// NVVM: llvm.func @k(
// NVVM-SAME: gpu.kernel
// EXPLICIT: error: pipeline 'convert-gpu-to-nvvm': {{.*}}restricted to 'gpu.module'
// UNKNOWN: error: unknown pass 'tile-select-mmma'; nearest: tile-select-mma

// ABI: gpu.func @k(%{{[A-Za-z0-9_]+}}: i64)
// CSE: arith.addi
// CSE-NOT: arith.addi
gpu.module @m {
  gpu.func @k(%n: index) kernel {
    %a = arith.addi %n, %n : index
    %b = arith.addi %n, %n : index
    gpu.printf "%lld %lld", %a, %b : index, index
    gpu.return
  }
}
