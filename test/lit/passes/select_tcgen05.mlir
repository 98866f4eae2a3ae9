// RUN: tile-opt %s --tile-select-tcgen05 --remarks 2>%t.err | FileCheck %s
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-select-tcgen05{instruction=mma.sync})' | FileCheck %s --check-prefix=OFF

// Factors loaded; a pin that stays; what does not fit stays, and the remark says why.

!Array = memref<256x256xf16>
!Whole = memref<256x256xf32>

// OFF-COUNT-1: form = "tcgen05.mma
// OFF-NOT: form = "tcgen05.mma
gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // CHECK-LABEL: gpu.func @loaded
  gpu.func @loaded(%a: !Array, %b: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<128x64xf16>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<64x128xf16>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    // CHECK: tile.dot {{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", warps = array<i64: 4, 2>}
    // WHY: remark: 'tile.dot' op becomes 4 tcgen05.mma.cta_group::1.kind::f16 of m128n128k16, issued by one thread; its sums lie in 128 columns of tensor memory, which 4x2 warps load
    %d = tile.dot %ta, %tb, %zero : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32>
    tile.store %d, %c[%c0, %c0] : tensor<128x128xf32>, !Whole
    gpu.return
  }

  // CHECK-LABEL: gpu.func @pinned
  gpu.func @pinned(%a: !Array, %b: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<64x64xf16>
    %tb = tile.load %b[%c0, %c0] transposed : !Array -> tensor<64x128xf16>
    %zero = arith.constant dense<0.0> : tensor<64x128xf32>
    // CHECK: tile.dot {{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.collector::a::discard.a::descriptor", warps = array<i64: 4, 1>}
    %d = tile.dot %ta, %tb, %zero {form = "tcgen05.mma.cta_group::1.kind::f16.collector::a::discard.a::descriptor"} : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    // CHECK: tile.dot {{.*}} {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
    %e = tile.dot %ta, %tb, %d {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    tile.store %e, %c[%c0, %c0] : tensor<64x128xf32>, !Whole
    gpu.return
  }

  // A is stored to tensor memory where it is computed.
  // CHECK-LABEL: gpu.func @computed
  gpu.func @computed(%a: !Array, %b: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<128x64xf16>
    %twice = arith.addf %ta, %ta : tensor<128x64xf16>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<64x64xf16>
    %zero = arith.constant dense<0.0> : tensor<128x64xf32>
    // CHECK: tile.dot {{.*}} {form = "tcgen05.mma.cta_group::1.kind::f16.a::tensor", warps = array<i64: 4, 1>}
    // WHY: remark: 'tile.dot' op becomes 4 tcgen05.mma.cta_group::1.kind::f16 of m128n64k16, issued by one thread; its sums lie in 64 columns of tensor memory, which 4x1 warps load, and A, which is computed, is stored there, too
    %d = tile.dot %twice, %tb, %zero : tensor<128x64xf16>, tensor<64x64xf16>, tensor<128x64xf32>
    tile.store %d, %c[%c0, %c0] : tensor<128x64xf32>, !Whole
    gpu.return
  }

  // CHECK-LABEL: gpu.func @declined
  // CHECK-NOT: tcgen05
  gpu.func @declined(%a: !Array, %b: !Array, %f: !Whole, %c: !Whole, %often: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %few = arith.constant dense<0.0> : tensor<32x64xf32>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %halves = arith.constant dense<0.0> : tensor<64x64xf16>
    %low = tile.load %a[%c0, %c0] : !Array -> tensor<32x64xf16>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for tensor memory: M = 32 is not legal for kind::f16, cta_group::1; legal: 64, 128
    %0 = tile.dot %low, %tb, %few : tensor<32x64xf16>, tensor<64x64xf16>, tensor<32x64xf32>
    %computed = arith.addf %tb, %tb : tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for tensor memory: A is not loaded from global memory, but computed
    %1 = tile.dot %computed, %tb, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    // WHY: remark: 'tile.dot' op is not for tensor memory: no tcgen05.mma of sm_100a multiplies f16 by f16, giving f16 of 32 bits
    %2 = tile.dot %tb, %tb, %halves : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for tensor memory: it is in an 'scf.if'; only scf.for carries the phase of its mbarrier
    %3 = scf.if %often -> tensor<64x64xf32> {
      %4 = tile.dot %tb, %tb, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
      scf.yield %4 : tensor<64x64xf32>
    } else {
      scf.yield %zero : tensor<64x64xf32>
    }
    tile.store %0, %c[%c0, %c0] : tensor<32x64xf32>, !Whole
    tile.store %1, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    tile.store %2, %a[%c0, %c0] : tensor<64x64xf16>, !Array
    tile.store %3, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    gpu.return
  }

  // Two warps do not reach all lanes.
  // CHECK-LABEL: gpu.func @warps
  // CHECK-NOT: tcgen05
  gpu.func @warps(%a: !Array, %c: !Whole) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<64x64xf16>
    // WHY: remark: 'tile.dot' op is not for tensor memory: 2 warps do not load all lanes of tensor memory: legal are multiples of 4
    %d = tile.dot %ta, %ta, %zero : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    tile.store %d, %c[%c0, %c0] : tensor<64x64xf32>, !Whole
    gpu.return
  }
}
