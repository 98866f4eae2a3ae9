// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: "tile.tma_reduce"(%{{.*}}) {fn = "add", shape = array<i64: 32, 64>} : (memref<2x64x64xf16, #{{.*}}>, memref<?x?x?xf16>, index
  "tile.tma_reduce"(%s, %m, %i, %i, %i, %i, %i, %i) {fn = "add", shape = array<i64: 32, 64>} : (!S, !M, index, index, index, index, index, index) -> ()
  return
}
