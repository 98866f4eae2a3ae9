func.func @f() -> i32 {
  // expected-warning @below {{has 0 operands}}
  return
}
