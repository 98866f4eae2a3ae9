// RUN: tile-opt %s --tile-rasterize --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @below {{'gpu.func' op tile.rasterize must be a positive integer, not 0 : i64}}
  gpu.func @none() kernel attributes {tile.rasterize = 0 : i64} {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{'gpu.func' op tile.rasterize must be a positive integer or "hilbert", not "8"}}
  gpu.func @text() kernel attributes {tile.rasterize = "8"} {
    gpu.return
  }
}
