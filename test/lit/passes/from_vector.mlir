// RUN: tile-opt %s --tile-from-vector --split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#ct = affine_map<(m, n, k) -> (n, m)>

gpu.module @m {
  // A loop that carries the accumulators; what may be out of bounds is masked.
  // CHECK-LABEL: gpu.func @product(
  // CHECK-SAME: %[[A:[^:]*]]: {{[^%]*}}%[[B:[^:]*]]: {{[^%]*}}%[[C:[^:]*]]:
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (tensor<64x64xf32>)
  // CHECK: %[[X:.*]] = tile.load %[[A]][%[[I:.*]], %[[K]]] masked : {{.*}} -> tensor<64x32xf16>
  // CHECK: %[[Y:.*]] = tile.load %[[B]][%[[K]], %[[I]]] : {{.*}} -> tensor<32x64xf16>
  // CHECK: %[[D:.*]] = tile.dot %[[X]], %[[Y]], %[[ACC]]
  // CHECK: scf.yield %[[D]] : tensor<64x64xf32>
  // CHECK: tile.store %[[SUM]], %[[C]][%[[I]], %[[I]]] masked
  gpu.func @product(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %n: index) kernel {
    %i = arith.constant 0 : index
    %step = arith.constant 32 : index
    %pad = arith.constant 0.0 : f16
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %sum = scf.for %k = %i to %n step %step iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %x = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, false]} : memref<?x?xf16>, vector<64x32xf16>
      %y = vector.transfer_read %b[%k, %i], %pad {in_bounds = [true, true]} : memref<?x?xf16>, vector<32x64xf16>
      %d = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
          %x, %y, %acc : vector<64x32xf16>, vector<32x64xf16> into vector<64x64xf32>
      scf.yield %d : vector<64x64xf32>
    }
    vector.transfer_write %sum, %c[%i, %i] : vector<64x64xf32>, memref<?x?xf32>
    gpu.return
  }

  // Transposed operands, a transposed result (the product the other way round), integers widened
  // by hand, of which one has no sign.
  // CHECK-LABEL: gpu.func @transposed(
  // CHECK: %[[X:.*]] = tile.load %arg0[{{.*}} transposed : {{.*}} -> tensor<16x32xi8>
  // CHECK: %[[Y:.*]] = tile.load %arg1[{{.*}} -> tensor<8x32xi8>
  // CHECK: %[[XT:.*]] = tile.transpose %[[X]] [1, 0] : tensor<16x32xi8> -> tensor<32x16xi8>
  // CHECK: %[[D:.*]] = tile.dot %[[Y]], %[[XT]], %{{.*}} unsigned_a : tensor<8x32xi8>, tensor<32x16xi8>, tensor<8x16xi32>
  gpu.func @transposed(%a: memref<32x16xi8>, %b: memref<8x32xi8>, %c: memref<8x16xi32>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 0 : i8
    %zero = arith.constant dense<0> : vector<8x16xi32>
    %x = vector.transfer_read %a[%i, %i], %pad {permutation_map = affine_map<(i, j) -> (j, i)>, in_bounds = [true, true]} : memref<32x16xi8>, vector<16x32xi8>
    %y = vector.transfer_read %b[%i, %i], %pad {in_bounds = [true, true]} : memref<8x32xi8>, vector<8x32xi8>
    %x32 = arith.extsi %x : vector<16x32xi8> to vector<16x32xi32>
    %y32 = arith.extui %y : vector<8x32xi8> to vector<8x32xi32>
    %d = vector.contract {indexing_maps = [#a, #bt, #ct], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %x32, %y32, %zero : vector<16x32xi32>, vector<8x32xi32> into vector<8x16xi32>
    vector.transfer_write %d, %c[%i, %i] : vector<8x16xi32>, memref<8x16xi32>
    gpu.return
  }

  // f32 as tf32; a result in bf16 that no instruction adds in.
  // CHECK-LABEL: gpu.func @elements(
  // CHECK: arith.truncf %{{.*}} : tensor<16x8xf32> to tensor<16x8xtf32>
  // CHECK: arith.truncf %{{.*}} : tensor<8x8xf32> to tensor<8x8xtf32>
  // CHECK: tile.dot{{.*}} : tensor<16x8xtf32>, tensor<8x8xtf32>, tensor<16x8xf32>
  // CHECK: %[[SUM:.*]] = arith.extf %{{.*}} : tensor<16x16xbf16> to tensor<16x16xf32>
  // CHECK: %[[D:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[SUM]]
  // CHECK: arith.truncf %[[D]] : tensor<16x16xf32> to tensor<16x16xbf16>
  gpu.func @elements(%a: memref<16x8xf32>, %b: memref<8x8xf32>, %e: memref<16x16xbf16>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %pad16 = ub.poison : bf16
    %zero = arith.constant dense<0.0> : vector<16x8xf32>
    %x = vector.transfer_read %a[%i, %i], %pad : memref<16x8xf32>, vector<16x8xf32>
    %y = vector.transfer_read %b[%i, %i], %pad : memref<8x8xf32>, vector<8x8xf32>
    %d = vector.contract {tile.tf32, indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %x, %y, %zero : vector<16x8xf32>, vector<8x8xf32> into vector<16x8xf32>
    vector.transfer_write %d, %a[%i, %i] : vector<16x8xf32>, memref<16x8xf32>
    %z = vector.transfer_read %e[%i, %i], %pad16 : memref<16x16xbf16>, vector<16x16xbf16>
    %f = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %z, %z, %z : vector<16x16xbf16>, vector<16x16xbf16> into vector<16x16xbf16>
    vector.transfer_write %f, %e[%i, %i] : vector<16x16xbf16>, memref<16x16xbf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @others(
  // CHECK: %[[X:.*]] = tile.load
  // CHECK: %[[R:.*]] = tile.reduce arith.maximumf %[[X]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
  // CHECK: %[[M:.*]] = arith.maximumf %[[R]], %cst
  // CHECK: %[[C:.*]] = tile.reduce arith.addf %[[X]] axis 1 : tensor<32x16xf32> -> tensor<32xf32>
  // CHECK: %[[S:.*]] = tile.reduce arith.addf %[[C]] axis 0 : tensor<32xf32> -> f32
  // CHECK: %[[ALL:.*]] = arith.addf %[[S]], %{{.*}} : f32
  // CHECK: %[[ONE:.*]] = tile.reduce arith.mulf %[[M]] axis 0 : tensor<32xf32> -> f32
  // CHECK: tile.fill %[[ALL]] : f32 -> tensor<32x16xf32>
  // CHECK: %[[COL:.*]] = tile.reshape %[[M]] : tensor<32xf32> -> tensor<32x1xf32>
  // CHECK: tile.broadcast %[[COL]] : tensor<32x1xf32> -> tensor<32x16xf32>
  // CHECK: %[[ROW:.*]] = tile.expand %[[M]] axis 0 : tensor<32xf32> -> tensor<1x32xf32>
  // CHECK: %[[ROWS:.*]] = tile.broadcast %[[ROW]] : tensor<1x32xf32> -> tensor<16x32xf32>
  // CHECK: tile.transpose %[[ROWS]] [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
  // CHECK: math.fma
  // CHECK: %[[LESS:.*]] = arith.cmpf olt, {{.*}} : tensor<32x16xf32>
  // CHECK: arith.select %[[LESS]], {{.*}} : tensor<32x16xi1>, tensor<32x16xf32>
  gpu.func @others(%a: memref<32x16xf32>, %s: f32) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %low = arith.constant dense<-1.0> : vector<32xf32>
    %x = vector.transfer_read %a[%i, %i], %pad : memref<32x16xf32>, vector<32x16xf32>
    %m = vector.multi_reduction <maximumf>, %x, %low [1] : vector<32x16xf32> to vector<32xf32>
    %all = vector.multi_reduction <add>, %x, %s [0, 1] : vector<32x16xf32> to f32
    %one = vector.reduction <mul>, %m : vector<32xf32> into f32
    %filled = vector.broadcast %all : f32 to vector<32x16xf32>
    %col = vector.shape_cast %m : vector<32xf32> to vector<32x1xf32>
    %cols = vector.broadcast %col : vector<32x1xf32> to vector<32x16xf32>
    %rows = vector.broadcast %m : vector<32xf32> to vector<16x32xf32>
    %turned = vector.transpose %rows, [1, 0] : vector<16x32xf32> to vector<32x16xf32>
    %f = vector.fma %filled, %cols, %turned : vector<32x16xf32>
    %less = arith.cmpf olt, %f, %x : vector<32x16xf32>
    %y = arith.select %less, %f, %x : vector<32x16xi1>, vector<32x16xf32>
    vector.transfer_write %y, %a[%i, %i] : vector<32x16xf32>, memref<32x16xf32>
    gpu.return
  }

  // Vectors of a thread stay, and so do those of kernels that transfer none.
  // CHECK-LABEL: gpu.func @threads(
  // CHECK: vector.transfer_read
  // CHECK-LABEL: gpu.func @registers(
  // CHECK: arith.addf {{.*}} : vector<4xf32>
  gpu.func @threads(%a: memref<128xf32>) kernel {
    %i = gpu.thread_id x
    %pad = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%i], %pad : memref<128xf32>, vector<4xf32>
    vector.transfer_write %x, %a[%i] : vector<4xf32>, memref<128xf32>
    gpu.return
  }
  gpu.func @registers(%a: memref<4xf32>) kernel {
    %i = arith.constant 0 : index
    %x = vector.load %a[%i] : memref<4xf32>, vector<4xf32>
    %y = arith.addf %x, %x : vector<4xf32>
    vector.store %y, %a[%i] : memref<4xf32>, vector<4xf32>
    gpu.return
  }
}
