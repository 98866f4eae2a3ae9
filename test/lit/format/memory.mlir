// RUN: tile-opt %s | FileCheck %s
// RUN: tile-opt %s | tile-opt --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @memory(
func.func @memory(%g: memref<?x?xf16>, %i: index) {
  // CHECK: %[[S:.*]] = tile.alloc_shared at 1024 : memref<64x32xf16, #tile.shared<"64B">>
  // GENERIC: %[[S:.*]] = "tile.alloc_shared"() {offset = 1024 : i64} : () -> memref<64x32xf16, #tile.shared<"64B">>
  %s = tile.alloc_shared at 1024 : memref<64x32xf16, #tile.shared<"64B">>
  // What stands in brackets belongs to the memref before it, however many dimensions it has.
  // CHECK: tile.async_copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[S]][%{{.*}}, %{{.*}}] shape [64, 32] masked {vector = 8 : i64}
  // GENERIC: "tile.async_copy"(%{{.*}}, %[[S]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {masked, shape = array<i64: 64, 32>, vector = 8 : i64}
  tile.async_copy %g[%i, %i] to %s[%i, %i] shape [64, 32] masked {vector = 8}
      : memref<?x?xf16> to memref<64x32xf16, #tile.shared<"64B">>
  // CHECK-NEXT: tile.async_commit{{$}}
  // CHECK-NEXT: tile.async_wait 0{{$}}
  tile.async_commit
  tile.async_wait 0
  // The dictionary has what has no place of its own, and may have what has one.
  // CHECK-NEXT: %[[T:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}] masked transposed {tile.direct, vector = 2 : i64} : memref<?x?xf16> -> tensor<16x8xf16>
  %t = tile.load %g[%i, %i] transposed {vector = 2, masked, tile.direct}
      : memref<?x?xf16> -> tensor<16x8xf16>
  // CHECK-NEXT: tile.atomic arith.addf %[[T]], %{{.*}}[%{{.*}}, %{{.*}}] masked : tensor<16x8xf16>, memref<?x?xf16>
  // GENERIC: "tile.atomic"({{.*}}) {fn = "arith.addf", masked} : (tensor<16x8xf16>, memref<?x?xf16>, index, index) -> ()
  tile.atomic "arith.addf" %t, %g[%i, %i] masked : tensor<16x8xf16>, memref<?x?xf16>
  return
}
