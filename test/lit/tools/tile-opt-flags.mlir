// Flags as LLVM's tools take them: one dash or two, values after = or as the next word, before and after the file.
// RUN: tile-opt %s -canonicalize -allow-unregistered-dialect | FileCheck %s
// RUN: tile-opt -allow-unregistered-dialect -canonicalize="top-down=false max-iterations=3" %s | FileCheck %s
// RUN: tile-opt -p 'builtin.module(canonicalize)' --allow-unregistered-dialect=true %s -o - | FileCheck %s
// RUN: tile-opt -pass-pipeline 'any(canonicalize)' -allow-unregistered-dialect %s | FileCheck %s
// RUN: not tile-opt %s -canonicalize -allow-unregistered-dialect=false 2>&1 | FileCheck %s --check-prefix=DENIED
// RUN: not tile-opt %s -mlir-print-ir-after-al 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: tile-opt %s -allow-unregistered-dialect -mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tile-opt %s -allow-unregistered-dialect -cse -convert-gpu-to-nvvm -tile-check-target=target=sm_80 -dump-pass-pipeline -o %t 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: tile-opt %s -allow-unregistered-dialect -split-input-file='// CUT' -output-split-marker='// PASTE' | FileCheck %s --check-prefix=SPLIT
// RUN: tile-opt %s -allow-unregistered-dialect -mlir-elide-elementsattrs-if-larger=3 | FileCheck %s --check-prefix=ELIDED
// RUN: tile-opt %s -allow-unregistered-dialect -mlir-elide-elementsattrs-if-larger 4 | FileCheck %s --check-prefix=WHOLE
// RUN: tile-opt %s -allow-unregistered-dialect -mlir-print-skip-regions | FileCheck %s --check-prefix=SKIPPED
// RUN: tile-opt %s -allow-unregistered-dialect -cse -mlir-pass-statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS

// DENIED: tile-opt-flags.mlir:{{[0-9]+}}:{{[0-9]+}}: error: operation being parsed with an unregistered dialect
// UNKNOWN: error: unrecognized argument: -mlir-print-ir-after-al
// GENERIC: "func.func"()
// DUMP: Pass Manager with 3 passes:
// DUMP-NEXT: builtin.module(
// DUMP-NEXT: cse,
// DUMP-NEXT: gpu.module(
// DUMP-NEXT: convert-gpu-to-nvvm{
// DUMP-NEXT: ),
// DUMP-NEXT: tile-check-target{target=sm_80}
// DUMP-NEXT: )
// SKIPPED: module {...}
// STATISTICS: Pass statistics report

// CHECK-LABEL: func.func @f
// CHECK-NOT: arith.addi
// CHECK: "nobody.knows"() : () -> ()
func.func @f(%a: i32) {
  %b = arith.addi %a, %a : i32
  "nobody.knows"() : () -> ()
  return
}

// CUT
// SPLIT: func.func @f
// SPLIT: // PASTE
// SPLIT: func.func @g

// ELIDED: dense_resource<__elided__>
// WHOLE: dense<[1, 2, 3, 4]>
func.func @g() -> tensor<4xi32> {
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  return %c : tensor<4xi32>
}
gpu.module @m { gpu.func @k() kernel { gpu.return } }
