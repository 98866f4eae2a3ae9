// RUN: tile-opt %s --split-input-file --verify-diagnostics

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!P = !tile.frag<tensor<16x32xf32>, #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">>
func.func @not_a_multiple(%d: !D) {
  // expected-error @below {{columns are a power of two, at least 8, from a multiple of them on, of the 128 that there are; not 32 from 16 on}}
  %p = tile.warp_part %d column 16 : !D -> !P
  return
}

// -----

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!P = !tile.frag<tensor<16x32xf32>, #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">>
func.func @beyond(%d: !D) {
  // expected-error @below {{not 32 from 128 on}}
  %p = tile.warp_part %d column 128 : !D -> !P
  return
}

// -----

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!P = !tile.frag<tensor<16x32xf32>, #tile.layout<"register [0,1] [8,0] [0,16] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">>
func.func @layout(%d: !D) {
  // expected-error @below {{a warp's part is !tile.frag<tensor<16x32xf32>, #tile.layout<}}
  %p = tile.warp_part %d column 0 : !D -> !P
  return
}

// -----

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!P = !tile.frag<tensor<16x32xi32>, #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">>
func.func @element(%d: !D) {
  // expected-error @below {{a warp's part is !tile.frag<tensor<16x32xf32>, #tile.layout<}}
  %p = tile.warp_part %d column 0 : !D -> !P
  return
}
