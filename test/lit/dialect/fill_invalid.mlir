// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @plain_tensor(%x: f16) {
  // expected-error @below {{'tile.fill' op extents of a tile are powers of two, or a few units of a power of two: 16x1000 is 1x125 units of 16x8, and 64 units at most make a tile; 16x1024, with accesses that may go out of bounds, is legal}}
  %0 = tile.fill %x : f16 -> tensor<16x1000xf16>
  return
}

// -----

func.func @other_encoding(%x: f16) {
  // expected-error @below {{result must be a tensor with a #tile.layout encoding or a !tile.frag, not tensor<16x16xf16, "rows">}}
  %0 = tile.fill %x : f16 -> tensor<16x16xf16, "rows">
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @element_type(%x: f32) {
  // expected-error @below {{'tile.fill' op the scalar must be of the element type f16, not f32}}
  %0 = tile.fill %x : f32 -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @operands(%x: f16) {
  // expected-error @below {{op expects exactly 1 operands, but got 2}}
  %0 = "tile.fill"(%x, %x) : (f16, f16) -> !A
  return
}
