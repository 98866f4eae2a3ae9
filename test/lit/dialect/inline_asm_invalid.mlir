// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @count(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op pack 1 takes constraints of 1 output and 1 input, such as '=r,r', not 3: '=r,r,r'}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,r,r" (%a) : (tensor<32xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @width(%a: tensor<32xf64>) {
  // expected-error @below {{'tile.inline_asm' op constraint 1 is of an input of 64 bits: l or d, or an output's number, once; not 'r'}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,r" (%a) : (tensor<32xf64>) -> (tensor<32xf32>)
  return
}

// -----

func.func @output(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op constraint 0 is of an output of 32 bits: = and r or f; not 'r'}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "r,r" (%a) : (tensor<32xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @tied(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op constraint 1 is of an input of 32 bits: r or f, or an output's number, once; not '1'}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,1" (%a) : (tensor<32xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @pack(%a: tensor<32xf16>) {
  // expected-error @below {{'tile.inline_asm' op pack 3 of elements of 16 bits fills no register; legal: 1, and multiples of 2}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,r" (%a) {pack = 3 : i64} : (tensor<32xf16>) -> (tensor<32xf16>)
  return
}

// -----

func.func @packs(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op pack is a number from 1 to 64, not 0}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,r" (%a) {pack = 0 : i64} : (tensor<32xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @nibbles(%a: tensor<32xi4>) {
  // expected-error @below {{'tile.inline_asm' op inline assembly takes elements of 8 bits or more, not of 4}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=r,r" (%a) {pack = 8 : i64} : (tensor<32xi4>) -> (tensor<32xi4>)
  return
}

// -----

func.func @places(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op '$2' in the assembly is not a register; legal: $0 to $1, and $$ for a dollar}}
  %0 = tile.inline_asm "mov.b32 $0, $2;", "=r,r" (%a) : (tensor<32xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @modifier(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op '${' in the assembly is not a register}}
  %0 = tile.inline_asm "mov.b32 ${0:x}, $1;", "=r,r" (%a) : (tensor<32xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @shapes(%a: tensor<32xf32>, %b: tensor<64xf32>) {
  // expected-error @below {{'tile.inline_asm' op takes and gives tiles of one shape and layout, not tensor<32xf32> and tensor<64xf32>}}
  %0 = tile.inline_asm "add.f32 $0, $1, $2;", "=f,f,f" (%a, %b) : (tensor<32xf32>, tensor<64xf32>) -> (tensor<32xf32>)
  return
}

// -----

func.func @scalar(%a: f32) {
  // expected-error @below {{'tile.inline_asm' op each operand and result must be a tensor with a #tile.layout encoding or a !tile.frag, not f32}}
  %0 = tile.inline_asm "mov.b32 $0, $1;", "=f,f" (%a) : (f32) -> (f32)
  return
}

// -----

func.func @several(%a: tensor<32xf32>) {
  // expected-error @below {{'tile.inline_asm' op takes and returns tiles with the same elements in each position}}
  %0 = "tile.inline_asm"(%a, %a, %a) {asm = "", constraints = "=r,r,r,r", operandSegmentSizes = array<i32: 1, 2, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>} : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return
}
