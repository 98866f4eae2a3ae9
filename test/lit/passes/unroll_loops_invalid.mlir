// RUN: tile-opt %s --tile-unroll --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @none(%n: index, %c: i1) kernel {
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op tile.unroll must be an integer from 1 to 256, not 0 : i64}}
    scf.for %i = %z to %n step %c1 {
    } {tile.unroll = 0 : i64}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @not_a_loop(%n: index, %c: i1) kernel {
    // expected-error @below {{'scf.if' op tile.unroll is an attribute of scf.for}}
    scf.if %c {
    } {tile.unroll = 2 : i64}
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_many(%n: index) kernel {
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op tile.unroll must be an integer from 1 to 256, not 1000000 : i64}}
    scf.for %i = %z to %n step %c1 {
    } {tile.unroll = 1000000 : i64}
    gpu.return
  }
}
