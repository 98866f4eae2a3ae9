// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// Of the first, which only computes, one is left where nobody uses it; the others stay.

// CHECK-LABEL: func.func @clock(
// KEPT-LABEL: func.func @clock(
func.func @clock(%a: tensor<32xi32>) {
  // KEPT-NOT: tile.inline_asm "
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,r" (%a) : (tensor<32xi32>) -> (tensor<32xi32>)
  // CHECK: tile.inline_asm_volatile "mov.u64 $0, %clock64;", "=l,r"(%{{.*}}) : (tensor<32xi32>) -> (tensor<32xi64>)
  // KEPT-COUNT-2: tile.inline_asm_volatile "mov.u64 $0, %clock64;"
  %1 = tile.inline_asm_volatile "mov.u64 $0, %clock64;", "=l,r" (%a) : (tensor<32xi32>) -> (tensor<32xi64>)
  %2 = tile.inline_asm_volatile "mov.u64 $0, %clock64;", "=l,r" (%a) : (tensor<32xi32>) -> (tensor<32xi64>)
  return
}
