// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// RUN: FileCheck %s --input-file %t.json --check-prefix=JSON
// RUN: tilec %s --remarks -o %t.ptx 2>&1 | FileCheck %s --check-prefix=WHY
//
// C = A·Bᵀ in f16: gemm.mlir beside this, from tiles alone. Nothing here names a warp, a barrier or
// an instruction. For sm_90a the passes find 256 threads that multiply 64 x 256 a warpgroup, 128
// more that load, a ring of three stages between them, stores by TMA, and a CTA for each SM, which takes
// one tile after the other, and say so; `--target sm_80` makes mma.sync and cp.async of the same. The
// attributes of the arguments promise what tensor maps ask for: rows that begin at multiples of 16 bytes.
//
// The grid is ceil(N / 256) along x, ceil(M / 128) along y, with A [M][K], B [N][K] and C [M][N].
// `Compiled.launch` and the C of `--launcher` launch as many CTAs as there are SMs.

!A = tensor<128x64xf16>
!B = tensor<64x256xf16>
!Sum = tensor<128x256xf32>
!C = tensor<128x256xf16>
!M = memref<?x?xf16, strided<[?, 1]>>

gpu.module @hopper [#nvvm.target<chip = "sm_90a">] {
  gpu.func @gemm_tiles(%a: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %b: !M {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
                       %c: !M {llvm.noalias, tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %c256 : index
    %row = arith.muli %y, %c128 : index
    %depth = memref.dim %a, %c1 : !M
    %zero = arith.constant dense<0.0> : !Sum
    %sums = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!Sum) {
      %ta = tile.load %a[%row, %k] masked : !M -> !A
      %tb = tile.load %b[%col, %k] masked transposed : !M -> !B
      %next = tile.dot %ta, %tb, %sum : !A, !B, !Sum
      scf.yield %next : !Sum
    }
    %result = arith.truncf %sums : !Sum to !C
    tile.store %result, %c[%row, %col] masked : !C, !M
    gpu.return
  }
}

// CHECK: .maxntid 384
// CHECK: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-COUNT-2: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// CHECK-NOT: cp.async.bulk.tensor
// CHECK: setmaxnreg.inc.sync.aligned.u32 232;
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
// CHECK: bar.sync 1, 256;
// CHECK-COUNT-16: stmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK: fence.proxy.async.shared::cta;
// CHECK-COUNT-4: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group

// JSON: "kind": "grid"
// JSON: "kind": "tensor_map"
// JSON: "swizzle": "128B"
// JSON: "ctas_per_sm": 1

// WHY: becomes 4 wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 for each of 2x1 warpgroups; A and B are in shared memory
// WHY: is launched with one CTA per SM, each of which processes several tiles of the grid in turn
// WHY: is split into roles: of 384 threads 256 compute, with 232 registers each, and one of the 128 others, with 40, loads boxes by TMA to a ring of 3 stages of 49152 bytes
// WHY: leaves its product in flight at the end of an iteration; the next one begins its own, waits for this, and releases its stage
// WHY-NOT: executes one after the other
