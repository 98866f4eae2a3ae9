// RUN: tile-opt %s --split-input-file --verify-diagnostics

!E = memref<128x4xi32, #tile.tensor<"e">>
func.func @held(%e: !E) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{tcgen05.shift.cta_group::1.down moves rows of #tile.tensor<"a"> or #tile.tensor<"d">, not of memref<128x4xi32}}
  tile.tcgen05_shift %e[%c0, %c0] : !E
  return
}

// -----

!A = memref<128x64xf16, #tile.tensor<"a">>
func.func @group(%a: !A) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{tcgen05.shift.cta_group::2.down moves rows of #tile.tensor<"a cta_group::2"> or}}
  tile.tcgen05_shift %a[%c0, %c0] {cta_group = 2} : !A
  return
}

// -----

!A = memref<128x64xf16, #tile.tensor<"a">>
func.func @row(%a: !A) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{rows are moved from a constant multiple of 32 below 128 on}}
  tile.tcgen05_shift %a[%c16, %c0] : !A
  return
}

// -----

!A = memref<128x64xf16, #tile.tensor<"a">>
func.func @columns(%a: !A) {
  %c0 = arith.constant 0 : index
  %c56 = arith.constant 56 : index
  // expected-error @below {{moves columns 56 to 71 of memref<128x64xf16}}
  tile.tcgen05_shift %a[%c0, %c56] : !A
  return
}
