// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: FileCheck %s --input-file %t.json --check-prefix=JSON
// RUN: tilec %s --remarks -o %t.ptx 2>&1 | FileCheck %s --check-prefix=WHY
//
// C = act(A·Bᵀ + bias) in f16, where two warpgroups take tiles in turn: one multiplies while the
// other stores. `tile.pingpong = true` asks for that; the program is written for one warpgroup, of
// 128 threads, which computes 64 x 256. The launch has 384: a warpgroup loads, two compute.
//
// The grid is ceil(N / 256) along x, ceil(M / 64) along y, with A [M][K], B [N][K], C [M][N].

!A = tensor<64x64xf16>
!B = tensor<64x256xf16>
!Sum = tensor<64x256xf32>
!C = tensor<64x256xf16>
!M = memref<?x?xf16, strided<[?, 1]>>

gpu.module @hopper [#nvvm.target<chip = "sm_90a">] {
  gpu.func @gemm_pingpong(%a: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                          %b: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                          %bias: memref<?xf32>,
                          %c: !M {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, tile.pingpong = true} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c256 : index
    %row = arith.muli %y, %c64 : index
    %depth = memref.dim %a, %c1 : !M
    %zero = arith.constant dense<0.0> : !Sum
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!Sum) {
      %ta = tile.load %a[%row, %k] masked : !M -> !A
      %tb = tile.load %b[%col, %k] masked transposed : !M -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !Sum
      scf.yield %next : !Sum
    }
    %some = tile.load %bias[%col] masked : memref<?xf32> -> tensor<256xf32>
    %line = tile.expand %some axis 0 : tensor<256xf32> -> tensor<1x256xf32>
    %each = tile.broadcast %line : tensor<1x256xf32> -> !Sum
    %biased = arith.addf %sums, %each : !Sum
    %positive = arith.maximumf %biased, %zero : !Sum
    %result = arith.truncf %positive : !Sum to !C
    tile.store %result, %c[%row, %col] masked : !C, !M
    gpu.return
  }
}

// CHECK: .maxntid 384
// CHECK-COUNT-3: mbarrier.init.shared::cta.b64
// CHECK: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
// CHECK: mbarrier.try_wait.parity
// CHECK: mbarrier.try_wait.parity
// CHECK: wgmma.fence
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-NEXT: wgmma.commit_group
// CHECK-NOT: wgmma.wait_group
// CHECK: wgmma.fence
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: mbarrier.arrive.release.cta.shared::cluster.b64
// CHECK-NOT: wgmma.mma_async
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: mbarrier.arrive.release.cta.shared::cta.b64
// CHECK: bar.sync %r{{[0-9]+}}, 128;
// CHECK-COUNT-16: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: fence.proxy.async.shared::cta;
// CHECK-NEXT: bar.sync %r{{[0-9]+}}, 128;
// CHECK-COUNT-4: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group

// JSON: "block": [
// JSON-NEXT: 384,
// JSON: "ctas_per_sm": 1

// WHY: lets 2 warpgroups take tiles in turn, each of which multiplies while the other stores
// WHY: is split into roles: of 384 threads 2 times 128 compute whole tiles in turn, with 232 registers each, and one of the 128 others, with 40, loads boxes by TMA to a ring of 4 stages of 40960 bytes
