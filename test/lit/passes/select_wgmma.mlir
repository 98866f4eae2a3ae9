// RUN: tile-opt %s --tile-select-wgmma --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-select-wgmma{instruction=mma.sync})' | FileCheck %s --check-prefix=OFF

// Both factors loaded; A computed; a pin that stays; what does not fit stays, and the remark says why.

!Array = memref<256x256xf16>
!Whole = memref<256x256xf32>

// OFF-NOT: wgmma.mma_async.sync.aligned.m64n128
// OFF: wgmma.mma_async.sync.aligned.m64n64k16
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @loaded
  gpu.func @loaded(%a: !Array, %b: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<128x64xf16>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<64x128xf16>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    // CHECK: tile.dot {{.*}} {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", warps = array<i64: 8, 1>}
    // WHY: remark: 'tile.dot' op becomes 4 wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 for each of 2x1 warpgroups; A and B are in shared memory
    %d = tile.dot %ta, %tb, %zero : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    tile.store %d, %c[%c0, %c0] : tensor<128x128xf32>, !Whole
    gpu.return
  }

  // Of 64 rows one warpgroup finds any: the other takes other columns.
  // CHECK-LABEL: gpu.func @computed
  gpu.func @computed(%a: !Array, %b: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<64x64xf16>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<64x128xf16>
    %sum = arith.addf %ta, %ta : tensor<64x64xf16>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    // CHECK: tile.dot {{.*}} {form = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.a::registers", warps = array<i64: 4, 2>}
    // WHY: A comes from registers
    %d = tile.dot %sum, %tb, %zero : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    tile.store %d, %c[%c0, %c0] : tensor<64x128xf32>, !Whole
    gpu.return
  }

  // CHECK-LABEL: gpu.func @pinned
  gpu.func @pinned(%a: !Array, %b: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<64x64xf16>
    %tb = tile.load %b[%c0, %c0] transposed : !Array -> tensor<64x128xf16>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    // CHECK: tile.dot {{.*}} {form = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.a::descriptor", warps = array<i64: 4, 1>}
    %d = tile.dot %ta, %tb, %zero {form = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16.a::descriptor"} : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    // CHECK: tile.dot {{.*}} {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
    %e = tile.dot %ta, %tb, %d {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    tile.store %e, %c[%c0, %c0] : tensor<64x128xf32>, !Whole
    gpu.return
  }

  // CHECK-LABEL: gpu.func @declined
  // CHECK-NOT: wgmma
  gpu.func @declined(%a: !Array, %b: !Array, %f: !Whole, %c: !Whole) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %thread = gpu.thread_id x
    %few = arith.constant dense<0.0> : tensor<32x64xf32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<32x64xf16>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for warpgroups: 32 rows are not a multiple of 64 for each of 4 warps
    %0 = tile.dot %ta, %tb, %few : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
    %computed = arith.addf %tb, %tb : tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for warpgroups: B is not loaded from global memory, but computed
    %1 = tile.dot %tb, %computed, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %direct = tile.load %b[%c0, %c0] {tile.direct} : !Array -> tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for warpgroups: B is pinned to registers by an attribute of its load
    %2 = tile.dot %tb, %direct, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    %tf = tile.load %f[%c0, %c0] : !Whole -> tensor<64x64xtf32>
    // WHY: remark: 'tile.dot' op is not for warpgroups: B is contiguous along N: elements of 32 bits must be along K
    %3 = tile.dot %tf, %tf, %zero : tensor<64x64xtf32>, tensor<64x64xtf32>, tensor<64x64xf32>
    // WHY: remark: 'tile.dot' op is not for warpgroups: warps are pinned to 2x2
    %4 = tile.dot %tb, %tb, %zero {warps = array<i64: 2, 2>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.store %0, %c[%c0, %c0] : tensor<32x64xf32>, !Whole
    tile.store %1, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    tile.store %2, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    tile.store %3, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    tile.store %4, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    gpu.return
  }
}
