// Expected and reported diagnostics must be the same, part by part.
// RUN: tile-opt %s --split-input-file --verify-diagnostics
// RUN: tile-opt %s --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=PRINTED
// RUN: tile-opt %S/Inputs/unexpected.mlir --verify-diagnostics=only-expected
// RUN: not tile-opt %S/Inputs/unexpected.mlir --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=UNEXPECTED
// RUN: not tile-opt %S/Inputs/missing.mlir --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tile-opt %S/Inputs/wrong-kind.mlir --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=KIND

// UNEXPECTED: unexpected.mlir:2: error: unexpected error: 'func.return' op has 0 operands
// MISSING: missing.mlir:1: error: expected error "never said" was not produced
// KIND: wrong-kind.mlir:3: error: unexpected error: 'func.return' op has 0 operands
// KIND: wrong-kind.mlir:2: error: expected warning "has 0 operands" was not produced

func.func @below() -> i32 {
  // expected-error @below {{op has 0 operands, but enclosing function (@below) returns 1}}
  return
}

// -----

func.func @here() -> i32 {
  return // expected-error {{has 0 operands}}
}

// -----

func.func @offset() -> i32 {
  // expected-error @+2 {{has 0 operands}}

  return
}

// -----

func.func @above() -> i32 {
  return
  // expected-error-re @above {{has {{[0-9]+}} operands, but enclosing function (@{{a.*e}})}}
}

// -----

func.func @note(%a: i32) {
  // expected-note @below {{prior use here}}
  %b = arith.addi %a, %a : i32
  // expected-error @below {{expects different type than prior uses}}
  %c = arith.addi %b, %b : i64
  return
}

// -----

// What parses is printed.
// PRINTED-NOT: @below
// PRINTED: func.func @valid()
func.func @valid() {
  return
}
