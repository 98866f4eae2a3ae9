// RUN: tile-opt %s --tile-select-mma --tile-assign-layouts | FileCheck %s

!Global = memref<?x?xf16, strided<[?, 1]>>
!Result = memref<?x?xf32, strided<[?, 1]>>

// CHECK-DAG: #[[C:[a-z0-9]+]] = #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [64,0] [0,64] -> row 128, col 128">
// CHECK-DAG: #[[A:[a-z0-9]+]] = #tile.layout<"register [0,1] [8,0] [0,8] [16,0] [0,16] [0,32]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [32,0] [64,0] [0,0] -> row 128, col 64">
// CHECK-DAG: #[[B:[a-z0-9]+]] = #tile.layout<"register [1,0] [8,0] [0,8] [0,16] [0,32] [16,0] [32,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] [0,0] [0,64] -> row 64, col 128">

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // The product's layouts go to its loads, through the loop to the store.
  // CHECK-LABEL: gpu.func @gemm(
  // CHECK: arith.constant dense<0.000000e+00> : tensor<128x128xf32, #[[C]]>
  // CHECK: scf.for {{.*}} -> (tensor<128x128xf32, #[[C]]>)
  // CHECK: "tile.load"{{.*}} -> tensor<128x64xf16, #[[A]]>
  // CHECK: "tile.load"{{.*}} -> tensor<64x128xf16, #[[B]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: "tile.dot"
  // CHECK-NOT: warps =
  // CHECK: "tile.store"
  gpu.func @gemm(%a: !Global, %b: !Global, %c: !Result) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %depth = memref.dim %a, %c1 : !Global
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %r = scf.for %k = %c0 to %depth step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) {
      %x = "tile.load"(%a, %c0, %k) {masked} : (!Global, index, index) -> tensor<128x64xf16>
      %y = "tile.load"(%b, %k, %c0) {masked} : (!Global, index, index) -> tensor<64x128xf16>
      %s = "tile.dot"(%x, %y, %acc) : (tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %s : tensor<128x128xf32>
    }
    "tile.store"(%r, %c, %c0, %c0) {masked} : (tensor<128x128xf32>, !Result, index, index) -> ()
    gpu.return
  }
}
