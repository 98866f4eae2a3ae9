// RUN: tilec %s --target sm_80 | FileCheck %s
//
// Softmax of each row of a matrix, f32 in and out, rows of at most 1024 columns: a CTA of 4 warps
// takes one row. The grid is (rows).
//
// What lies outside the matrix must not be the largest: it becomes minus infinity, by its number
// (`tile.iota`) and `arith.select`. The sums and maxima go over all lanes and warps.

!Row = tensor<1024xf32>
!Number = tensor<1024xi32>
!Inside = tensor<1024xi1>
!Matrix = memref<?x?xf32, strided<[?, 1]>>

// CHECK: shfl.sync.bfly
// CHECK: ex2.approx

gpu.module @softmax [#nvvm.target<chip = "sm_80">] {
  gpu.func @softmax(%x: !Matrix {tile.aligned = 16 : i64}, %y: !Matrix {tile.aligned = 16 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1024 = arith.constant 1024 : index
    %row = gpu.block_id x
    %rows = memref.dim %x, %c0 : !Matrix
    %cols = memref.dim %x, %c1 : !Matrix

    %read = tile.load %x[%row, %c0] masked : !Matrix -> !Row
    %number = tile.iota axis 0 : !Number
    %there = arith.cmpi slt, %row, %rows : index
    %most = arith.minui %cols, %c1024 : index
    %count = arith.select %there, %most, %c0 : index
    %end = arith.index_cast %count : index to i32
    %ends = tile.fill %end : i32 -> !Number
    %inside = arith.cmpi slt, %number, %ends : !Number
    %lowest = arith.constant dense<0xFF800000> : !Row
    %values = arith.select %inside, %read, %lowest : !Inside, !Row

    %max = tile.reduce arith.maximumf %values axis 0 : !Row -> f32
    %maxima = tile.fill %max : f32 -> !Row
    %shifted = arith.subf %values, %maxima : !Row
    %power = math.exp %shifted : !Row
    %sum = tile.reduce arith.addf %power axis 0 : !Row -> f32
    %sums = tile.fill %sum : f32 -> !Row
    %result = arith.divf %power, %sums : !Row
    tile.store %result, %y[%row, %c0] masked : !Row, !Matrix
    gpu.return
  }
}
