// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @clobbers(%a: tensor<32xi32>) {
  // expected-error @below {{'tile.inline_asm_volatile' op pack 1 takes constraints of 1 output and 1 input, such as '=r,r', not 3: '=r,r,~{memory}'}}
  %0 = tile.inline_asm_volatile "mov.b32 $0, $1;", "=r,r,~{memory}" (%a) : (tensor<32xi32>) -> (tensor<32xi32>)
  return
}
