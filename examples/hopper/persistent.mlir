// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: tilec %s --remarks -o %t.ptx 2>&1 | FileCheck %s --check-prefix=WHY
//
// tiles.mlir beside this, of a grid that stays: each CTA takes a tile, and then the one as far behind
// as there are CTAs. The ring of stages goes on from tile to tile, so that boxes of the next one
// arrive while this one is stored, and the store goes on under the next one's products.
//
// Launch as many CTAs along x as run at once: 132 on an H100.

!A = tensor<128x64xf16>
!B = tensor<64x256xf16>
!Sum = tensor<128x256xf32>
!C = tensor<128x256xf16>
!M = memref<?x?xf16, strided<[?, 1]>>
gpu.module @hopper [#nvvm.target<chip = "sm_90a">] {
  gpu.func @gemm_of_tiles(%a: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                          %b: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                          %c: !M {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %first = gpu.block_id x
    %ctas = gpu.grid_dim x
    %m = memref.dim %c, %c0 : !M
    %n = memref.dim %c, %c1 : !M
    %down = arith.ceildivui %m, %c128 : index
    %across = arith.ceildivui %n, %c256 : index
    %tiles = arith.muli %down, %across : index
    %depth = memref.dim %a, %c1 : !M
    %zero = arith.constant dense<0.0> : !Sum
    scf.for %tile = %first to %tiles step %ctas {
      %y = arith.divui %tile, %across : index
      %x = arith.remui %tile, %across : index
      %col = arith.muli %x, %c256 : index
      %row = arith.muli %y, %c128 : index
      %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!Sum) {
        %ta = tile.load %a[%row, %k] masked : !M -> !A
        %tb = tile.load %b[%col, %k] masked transposed : !M -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !Sum
        scf.yield %next : !Sum
      }
      %result = arith.truncf %sums : !Sum to !C
      tile.store %result, %c[%row, %col] masked : !C, !M
    }
    gpu.return
  }
}

// CHECK: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK: cp.async.bulk.wait_group 0;
// CHECK: bar.sync 1, 256;
// CHECK-COUNT-16: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-4: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
// CHECK: cp.async.bulk.commit_group;
// CHECK: cp.async.bulk.wait_group 0;

// WHY: loads boxes by TMA to a ring of 3 stages of 49152 bytes
// WHY: leaves by TMA, through 4 panels
