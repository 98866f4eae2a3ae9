// RUN: tile-opt %s --tile-rasterize | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @grouped(
  // CHECK-NOT: tile.rasterize
  // CHECK-DAG: %[[ACROSS:.*]] = gpu.grid_dim x
  // CHECK-DAG: %[[DOWN:.*]] = gpu.grid_dim y
  // CHECK: %[[HEIGHT:.*]] = arith.minui
  // CHECK: %[[REST:.*]] = arith.remui %[[WITHIN:.*]], %[[HEIGHT]]
  // CHECK: %[[Y:.*]] = arith.addi %{{.*}}, %[[REST]]
  // CHECK: %[[X:.*]] = arith.divui %[[WITHIN]], %[[HEIGHT]]
  // CHECK: memref.store %{{.*}}, %{{.*}}[%[[Y]], %[[X]], %block_id_z]
  gpu.func @grouped(%m: memref<?x?x?xf32>, %v: f32) kernel attributes {tile.rasterize = 8 : i64} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    %z = gpu.block_id z
    memref.store %v, %m[%y, %x, %z] : memref<?x?x?xf32>
    gpu.return
  }

  // The curve in a whole block, up and down in what the grid leaves of one; to the left in every second strip.
  // CHECK-LABEL: gpu.func @curve(
  // CHECK-NOT: tile.rasterize
  // CHECK-DAG: %[[X32:.*]] = arith.index_castui %grid_dim_x : index to i32
  // CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %{{.*}}, %c256_i32
  // CHECK: %[[COLUMN:.*]] = arith.select %[[WHOLE]], %{{.*}}, %{{.*}} : i32
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[COLUMN]] : i32
  // CHECK: %[[MIRRORED:.*]] = arith.subi %{{.*}}, %[[AT]] : i32
  // CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %[[MIRRORED]], %[[AT]] : i32
  // CHECK: %[[PLACE:.*]] = arith.index_castui %[[CHOSEN]] : i32 to index
  // CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[PLACE]]]
  gpu.func @curve(%m: memref<?x?xf32>, %v: f32) kernel attributes {tile.rasterize = "hilbert"} {
    %x = gpu.block_id x
    %y = gpu.block_id y
    memref.store %v, %m[%y, %x] : memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @plain(
  // CHECK-NEXT: %[[PX:.*]] = gpu.block_id x
  // CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[PX]]]
  gpu.func @plain(%m: memref<?xf32>, %v: f32) kernel {
    %x = gpu.block_id x
    memref.store %v, %m[%x] : memref<?xf32>
    gpu.return
  }
}
