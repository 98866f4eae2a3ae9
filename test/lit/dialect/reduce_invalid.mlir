// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @function(%t: tensor<16x8xf32>) {
  // expected-error @below {{'tile.reduce' op unknown reduction 'arith.subf'}}
  %0 = tile.reduce arith.subf %t axis 1 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @kind(%t: tensor<16x8xf32>) {
  // expected-error @below {{'tile.reduce' op arith.addi takes integer elements, not f32}}
  %0 = tile.reduce arith.addi %t axis 1 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @narrow(%t: tensor<16x8xf8E4M3FN>) {
  // expected-error @below {{'tile.reduce' op no arithmetic on f8E4M3FN: cast it first}}
  %0 = tile.reduce arith.addf %t axis 1 : tensor<16x8xf8E4M3FN> -> tensor<16xf8E4M3FN>
  return
}

// -----

func.func @axis(%t: tensor<16x8xf32>) {
  // expected-error @below {{'tile.reduce' op axis must be 0 to 1, not 2}}
  %0 = tile.reduce arith.addf %t axis 2 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @shape(%t: tensor<16x8xf32>) {
  // expected-error @below {{'tile.reduce' op the result is a tile of 8xf32, not of 16xf32}}
  %0 = tile.reduce arith.addf %t axis 0 : tensor<16x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @scalar(%t: tensor<16xf32>) {
  // expected-error @below {{'tile.reduce' op a tile of rank 1 is reduced to a scalar of type f32, not f16}}
  %0 = tile.reduce arith.addf %t axis 0 : tensor<16xf32> -> f16
  return
}

// -----

func.func @not_scalar(%t: tensor<16xf32>) {
  // expected-error @below {{'tile.reduce' op a tile of rank 1 is reduced to a scalar of type f32, not tensor<1xf32>}}
  %0 = tile.reduce arith.addf %t axis 0 : tensor<16xf32> -> tensor<1xf32>
  return
}

// -----

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
func.func @levels(%t: !T) {
  // expected-error @below {{'tile.reduce' op takes tiles that either all have a layout or all have none}}
  %0 = tile.reduce arith.addf %t axis 1 : !T -> tensor<32xf32>
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!R = tensor<16xf32, #tile.layout<"register [8]; lane [0] [0] [1] [2] [4]; warp -> row 16">>
func.func @fragment_to_tensor(%c: !C) {
  // expected-error @below {{'tile.reduce' op takes a fragment to a fragment, or a tensor to a tensor}}
  %0 = tile.reduce arith.addf %c axis 1 : !C -> !R
  return
}

// -----

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!R = tensor<32xf32, #tile.layout<"register [8] [16]; lane [0] [0] [1] [2] [4]; warp -> row 32">>
func.func @warps(%t: !T) {
  // expected-error @below {{'tile.reduce' op the layouts are of 2 and 1 warps; all of a CTA's layouts have the same number}}
  %0 = tile.reduce arith.addf %t axis 1 : !T -> !R
  return
}

// -----

!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!R = !tile.frag<tensor<16xf32>, #tile.layout<"register [8]; lane [1] [2] [4] [0] [0] -> row 16">>
func.func @lanes(%c: !C) {
  // expected-error @below {{'tile.reduce' op moves elements between lanes: the source gives the layout 'register [8]; lane [0] [0] [1] [2] [4] -> row 16', in any order of registers, not 'register [8]; lane [1] [2] [4] [0] [0] -> row 16'; convert the layout before or after}}
  %0 = tile.reduce arith.addf %c axis 1 : !C -> !R
  return
}

// -----

func.func @source(%t: f32) {
  // expected-error @below {{'tile.reduce' op source must be a tensor with a #tile.layout encoding or a !tile.frag, not f32}}
  %0 = tile.reduce arith.addf %t axis 0 : f32 -> f32
  return
}
