// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<2x128x64xf16, #tile.tensor<"a">>
!Pair = memref<256x64xf32, #tile.tensor<"d cta_group::2">>

// CHECK-LABEL: func.func @rows(
func.func @rows(%a: !A, %d: !Pair, %i: index, %col: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  // CHECK: tile.tcgen05_shift %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : memref<2x128x64xf16, #{{.*}}>
  tile.tcgen05_shift %a[%i, %c64, %col] : !A
  // CHECK: tile.tcgen05_shift %{{.*}}[%{{.*}}, %{{.*}}] {cta_group = 2 : i64} : memref<256x64xf32, #{{.*}}>
  tile.tcgen05_shift %d[%c0, %c0] {cta_group = 2} : !Pair
  return
}
