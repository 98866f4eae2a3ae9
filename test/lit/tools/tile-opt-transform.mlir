// A transform script applies tilec's passes as it does upstream's, and is left as it was.
// RUN: tile-opt %s -transform-interpreter -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: gpu.func @k(%{{[a-z0-9]+}}: i64)
// CHECK-NEXT: gpu.return
// CHECK: transform.apply_registered_pass "tile-kernel-abi" to
// CHECK: transform.apply_registered_pass "tile-check-target" with options = {{.*}}"sm_90a"} to
module attributes {transform.with_named_sequence} {
  gpu.module @m {
    gpu.func @k(%n: index) kernel {
      %unused = arith.addi %n, %n : index
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %modules = transform.structured.match ops{["gpu.module"]} in %root : (!transform.any_op) -> !transform.any_op
    %lowered = transform.apply_registered_pass "tile-kernel-abi" to %modules : (!transform.any_op) -> !transform.any_op
    %clean = transform.apply_registered_pass "canonicalize" to %lowered : (!transform.any_op) -> !transform.any_op
    %all = transform.get_parent_op %clean {op_name = "builtin.module"} : (!transform.any_op) -> !transform.any_op
    %checked = transform.apply_registered_pass "tile-check-target" with options = {"target" = "sm_90a"} to %all : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  gpu.module @m {
    // expected-error @below {{'gpu.func' op cannot take an argument of type vector<4xf32>}}
    gpu.func @k(%v: vector<4xf32>) kernel {
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.apply_registered_pass "tile-kernel-abi" to %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-note @below {{this op}}
  func.func @f() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{pass 'tile-kernel-abi' works on builtin.module, gpu.module, gpu.func, not on 'func.func'}}
    %1 = transform.apply_registered_pass "tile-kernel-abi" to %0 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{pass 'tile-check-target' has no option 'chip'; legal: target}}
    %0 = transform.apply_registered_pass "tile-check-target" with options = {"chip" = "sm_80"} to %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
