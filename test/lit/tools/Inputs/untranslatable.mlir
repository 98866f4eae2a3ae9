llvm.func @f(%a: i32) -> i32 {
  // expected-error @below {{cannot be converted to LLVM IR}}
  %b = arith.addi %a, %a : i32
  llvm.return %b : i32
}
