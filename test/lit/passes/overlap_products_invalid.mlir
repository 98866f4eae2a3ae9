// RUN: tile-opt %s --tile-overlap-products --split-input-file --verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @one_number(%own: i1) kernel attributes {tile.automatic, known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{'scf.if' op tile.producer has 3 numbers: threads of the CTA, and registers of a thread that loads and of one that computes}}
    scf.if %own {
    } {tile.producer = array<i64: 384>}
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @no_array(%own: i1) kernel attributes {tile.automatic, known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{'scf.if' op tile.producer is 384 : i64, which is not a DenseI64ArrayAttr}}
    scf.if %own {
    } {tile.producer = 384 : i64}
    gpu.return
  }
}
