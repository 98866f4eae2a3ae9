// expected-error @below {{never said}}
func.func @f() {
  return
}
