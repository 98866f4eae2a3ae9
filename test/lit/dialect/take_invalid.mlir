// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @axis(%p: tensor<8x32xi64>) {
  // expected-error @below {{'tile.take' op axis must be 0 to 1, not 2}}
  %0 = tile.take %p axis 2 keep -1 flip 1 : tensor<8x32xi64> -> tensor<8x32xi64>
  return
}

// -----

func.func @flip(%p: tensor<8x32xi64>) {
  // expected-error @below {{'tile.take' op flip changes bits of indices up to 7, not 8}}
  %0 = tile.take %p axis 0 keep -1 flip 8 : tensor<8x32xi64> -> tensor<8x32xi64>
  return
}

// -----

func.func @shape(%p: tensor<8x32xi64>) {
  // expected-error @below {{'tile.take' op the result is a tile of 8x32xi64, not of 8x16xi64}}
  %0 = tile.take %p axis 0 keep -1 flip 1 : tensor<8x32xi64> -> tensor<8x16xi64>
  return
}

// -----

!T = tensor<64xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64">>
func.func @warps(%t: !T) {
  // expected-error @below {{'tile.take' op takes elements within a warp, but the layout 'register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64' spreads dimension 0 over warps, or mixes its bits; legal: layouts in which each bit of the index is one bit of a register's or lane's number}}
  %0 = tile.take %t axis 0 keep -1 flip 1 : !T -> !T
  return
}

// -----

!T = tensor<32xf32, #tile.layout<"register; lane [1] [3] [4] [8] [16]; warp -> row 32">>
func.func @mixed(%t: !T) {
  // expected-error @below {{'tile.take' op takes elements within a warp}}
  %0 = tile.take %t axis 0 keep -1 flip 1 : !T -> !T
  return
}

// -----

func.func @units(%t: tensor<4x24xf16>) {
  // expected-error @below {{'tile.take' op takes elements by the bits of their index, along a dimension of a power of two, not of 24}}
  %0 = tile.take %t axis 1 keep -1 flip 1 : tensor<4x24xf16> -> tensor<4x24xf16>
  return
}
