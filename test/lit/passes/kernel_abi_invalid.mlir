// RUN: tile-opt %s --tile-kernel-abi --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @below {{'gpu.func' op cannot take an argument of type vector<4xf32>; legal: memrefs, pointers, integers, index, f16, bf16, f32, f64}}
  gpu.func @vector(%v: vector<4xf32>) kernel {
    gpu.return
  }
  // All kernels are looked at.
  // expected-error @below {{'gpu.func' op cannot take an argument of type f8E4M3FN}}
  gpu.func @narrow(%v: f8E4M3FN) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op cannot take an argument of type !tile.frag<}}
  gpu.func @fragment(%f: !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op cannot take memref<16x16xf16, #tile.shared<"none">>: arguments are in global memory}}
  gpu.func @shared(%s: memref<16x16xf16, #tile.shared<"none">>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op cannot take memref<16xf16, 3>: arguments are in global memory}}
  gpu.func @shared(%s: memref<16xf16, 3>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{its layout is not a list of strides}}
  gpu.func @layout(%s: memref<16x16xf16, affine_map<(i, j) -> (i floordiv 2, j)>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op cannot take an argument of type memref<*xf16>}}
  gpu.func @unranked(%s: memref<*xf16>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op tile.ctas_per_sm does not have the form that tile-make-persistent writes: 1 or more, on a kernel whose last 3 arguments are the grid's extents, i32}}
  gpu.func @few(%n: i32, %m: i32) kernel attributes {tile.ctas_per_sm = 1 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op tile.ctas_per_sm does not have the form that tile-make-persistent writes: 1 or more, on a kernel whose last 3 arguments are the grid's extents, i32}}
  gpu.func @none(%x: i32, %y: i32, %z: i32) kernel attributes {tile.ctas_per_sm = 0 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op tile.ctas_per_sm does not have the form that tile-make-persistent writes: 1 or more, on a kernel whose last 3 arguments are the grid's extents, i32}}
  gpu.func @others(%x: i32, %y: index, %z: i32) kernel attributes {tile.ctas_per_sm = 1 : i64} {
    gpu.return
  }
}
