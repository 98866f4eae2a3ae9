// RUN: tile-opt %s --tile-from-vector --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @extents(%a: memref<?xf32>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    // expected-error@+1 {{'vector.transfer_read' op is on vector<1000xf32>; extents of a tile are powers of two, or a few units of a power of two: 1000 is 125 units of 8, and 64 units at most make a tile; 1024, with accesses that may go out of bounds, is legal}}
    %x = vector.transfer_read %a[%i], %pad : memref<?xf32>, vector<1000xf32>
    %y = arith.addf %x, %x : vector<1000xf32>
    vector.transfer_write %y, %a[%i] : vector<1000xf32>, memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @scalable(%a: memref<?xf32>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    // expected-error@+1 {{'vector.transfer_read' op is on vector<[4]xf32>; a tile has no scalable extents}}
    %x = vector.transfer_read %a[%i], %pad : memref<?xf32>, vector<[4]xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rank(%a: memref<?xf32>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    // expected-error@+1 {{'vector.transfer_read' op is on vector<f32>; a tile has rank 1 or more: use f32}}
    %x = vector.transfer_read %a[%i], %pad : memref<?xf32>, vector<f32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @index(%a: memref<?xindex>) kernel {
    %i = arith.constant 0 : index
    // expected-error@+1 {{'vector.transfer_read' op is on vector<4xindex>; elements are integers or floating-point numbers, not index}}
    %x = vector.transfer_read %a[%i], %i : memref<?xindex>, vector<4xindex>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @padding(%a: memref<?xf32>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant 1.0 : f32
    // expected-error@+1 {{'vector.transfer_read' op is padded with something other than 0; legal: 0, or in_bounds in all dimensions}}
    %x = vector.transfer_read %a[%i], %pad : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @mask(%a: memref<?xf32>, %pad: f32) kernel {
    %i = arith.constant 0 : index
    %mask = arith.constant dense<true> : vector<4xi1>
    // expected-error@+1 {{'vector.transfer_read' op has a mask; legal: bounds, or arith.select}}
    %x = vector.transfer_read %a[%i], %pad, %mask {in_bounds = [true]} : memref<?xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @map(%a: memref<?x?xf32>, %pad: f32) kernel {
    %i = arith.constant 0 : index
    // expected-error@+1 {{'vector.transfer_read' op has the map (d0, d1) -> (d0); legal: to the last dimensions, in order or the last two swapped}}
    %x = vector.transfer_read %a[%i, %i], %pad {in_bounds = [true], permutation_map = affine_map<(i, j) -> (i)>} : memref<?x?xf32>, vector<4xf32>
    // expected-error@+1 {{'vector.transfer_read' op has the map (d0, d1) -> (d1, 0)}}
    %y = vector.transfer_read %a[%i, %i], %pad {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (j, 0)>} : memref<?x?xf32>, vector<4x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @tensor(%a: tensor<8xf32>, %m: memref<?xf32>, %pad: f32) kernel {
    %i = arith.constant 0 : index
    // expected-error@+1 {{'vector.transfer_read' op is of tensor<8xf32>; legal: a memref}}
    %x = vector.transfer_read %a[%i], %pad {in_bounds = [true]} : tensor<8xf32>, vector<4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @elements(%a: memref<4xvector<4xf32>>) kernel {
    %i = arith.constant 0 : index
    %pad = arith.constant dense<0.0> : vector<4xf32>
    // expected-error@+1 {{'vector.transfer_read' op is of f32 in memref<4xvector<4xf32>>; legal: of its elements}}
    %x = vector.transfer_read %a[%i], %pad {in_bounds = [true]} : memref<4xvector<4xf32>>, vector<4x4xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown(%a: memref<?xf32>, %pad: f32) kernel {
    %i = arith.constant 0 : index
    %x = vector.transfer_read %a[%i], %pad {in_bounds = [true]} : memref<?xf32>, vector<4xf32>
    // expected-error@+1 {{'vector.extract' op on vectors has no counterpart on tiles; legal: elementwise ops, casts and comparisons of arith and math, scf.for, scf.if, scf.while, vector.broadcast,}}
    %y = vector.extract %x[1] : f32 from vector<4xf32>
    // expected-error@+1 {{'arith.constant' op is not a splat; a constant tile has one value}}
    %z = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error@+1 {{'gpu.func' op on vectors has no counterpart on tiles}}
  gpu.func @argument(%x: vector<4xf32>, %a: memref<?xf32>) kernel {
    %i = arith.constant 0 : index
    vector.transfer_write %x, %a[%i] : vector<4xf32>, memref<?xf32>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>


gpu.module @m {
  gpu.func @threads(%x: memref<16x16xf16>, %pad: f16) kernel {
    // expected-note@+1 {{here}}
    %i = gpu.thread_id x
    %v = vector.transfer_read %x[%i, %i], %pad : memref<16x16xf16>, vector<16x16xf16>
    // expected-error@+1 {{'vector.contract' op multiplies vectors of the CTA, but its kernel asks which thread it is in}}
    %d = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %v, %v, %v : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf16>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

gpu.module @m {
  gpu.func @threads_of_the_grid(%x: memref<16x16xf16>, %pad: f16) kernel {
    // expected-note@+1 {{here}}
    %i = gpu.global_id x
    %v = vector.transfer_read %x[%i, %i], %pad : memref<16x16xf16>, vector<16x16xf16>
    // expected-error@+1 {{'vector.contract' op multiplies vectors of the CTA, but its kernel asks which thread it is in}}
    %d = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %v, %v, %v : vector<16x16xf16>, vector<16x16xf16> into vector<16x16xf16>
    gpu.return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#ab = affine_map<(i, m, n, k) -> (i, m, k)>
#bb = affine_map<(i, m, n, k) -> (i, k, n)>
#cb = affine_map<(i, m, n, k) -> (i, m, n)>

gpu.module @m {
  gpu.func @products(%s: f32, %y: memref<2x16x16xf16>) kernel {
    %i = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : vector<16x16xf32>
    %zeros = arith.constant dense<0.0> : vector<2x16x16xf16>
    // expected-error@+1 {{'vector.contract' op multiplies f32 by f32, which no instruction does; with the attribute tile.tf32 one multiplies them as tf32}}
    %d = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %zero, %zero, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    // expected-error@+1 {{'vector.contract' op has the kind #vector.kind<maxnumf>; legal: #vector.kind<add>}}
    %e = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<maxnumf>} %zero, %zero, %zero : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
    // expected-error@+1 {{'vector.contract' op multiplies a batch of matrices; legal: one, and a CTA for each matrix of a batch}}
    %f = vector.contract {indexing_maps = [#ab, #bb, #cb], iterator_types = ["parallel", "parallel", "parallel", "reduction"], kind = #vector.kind<add>} %zeros, %zeros, %zeros : vector<2x16x16xf16>, vector<2x16x16xf16> into vector<2x16x16xf16>
    // expected-error@+1 {{'vector.contract' op sums over 2 of its loops; a product of matrices sums over one}}
    %g = vector.contract {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>], iterator_types = ["reduction", "reduction"], kind = #vector.kind<add>} %zero, %zero, %s : vector<16x16xf32>, vector<16x16xf32> into f32
    gpu.return
  }
}
