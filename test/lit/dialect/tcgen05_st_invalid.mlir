// RUN: tile-opt %s --split-input-file --verify-diagnostics

!D = memref<128x64xf32, #tile.tensor<"d">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @count(%x: !F, %d: !D, %i: index) {
  // expected-error @below {{what tcgen05.st.sync.aligned.32x32b.x8.b32 moves of memref<128x64xf32, #tile.tensor<"d">> is !tile.frag<tensor<32x8xf32>}}
  tile.tcgen05_st %x, %d[%i, %i] {form = "tcgen05.st.sync.aligned.32x32b.x8.b32"} : !F, !D
  return
}

// -----

!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>
func.func @space(%x: !F, %d: memref<128x64xf32>, %i: index) {
  // expected-error @below {{buffer is a memref in #tile.tensor<"…">, not memref<128x64xf32>}}
  tile.tcgen05_st %x, %d[%i, %i] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x64xf32>
  return
}
