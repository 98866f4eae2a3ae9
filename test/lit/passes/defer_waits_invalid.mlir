// RUN: tile-opt %s --tile-defer-waits --split-input-file --verify-diagnostics

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @number(%n: index) kernel attributes {tile.automatic, known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op tile.defer_wait is 1 : i64, which is not a BoolAttr}}
    scf.for %i = %c0 to %n step %c1 {
    } {tile.defer_wait = 1 : i64}
    gpu.return
  }
}
