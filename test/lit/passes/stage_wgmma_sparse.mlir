// RUN: tile-opt %s --tile-select-wgmma --remarks 2>%t.err | FileCheck %s --check-prefix=FORM
// RUN: FileCheck %s --input-file %t.err --check-prefix=WHY
// RUN: tile-opt %s --pass-pipeline='builtin.module(tile-select-wgmma,tile-select-mma,tile-stage-wgmma,tile-assign-layouts,tile-order-proxies,tile-to-fragments,tile-check-wgmma)' | FileCheck %s

// A register of metadata serves two products of 32 of K, the selector says which; a tile with half
// of that stays for mma.sp, and a product that names it.

!Array = memref<256x256xf16>
!Codes = memref<256x64xi8>
!Result = memref<256x256xf32>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // FORM-LABEL: gpu.func @sparse
  // FORM: tile.dot_sp {{.*}} {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", warps = array<i64: 8, 1>}
  // WHY: remark: 'tile.dot_sp' op becomes 4 wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16 for each of 2x1 warpgroups; A and B are in shared memory

  // CHECK-LABEL: gpu.func @sparse
  // CHECK: tile.load {{.*}} -> !{{.*}}
  // CHECK: %[[E0:.*]] = tile.join_warps %{{.*}} : {{.*}}
  // CHECK-NEXT: %[[E1:.*]] = tile.join_warps
  // CHECK-NEXT: %[[E:.*]]:2 = tile.wgmma_fence %[[E0]], %[[E1]]
  // CHECK: %[[C:.*]] = tile.wgmma_fence
  // CHECK: tile.wgmma_sp %{{.*}}, %[[C]], %[[E]]#0 if %{{.*}} {form = {{.*}}, imm_trans_b = 1 : i64, selector = 0 : i64}
  // CHECK: tile.wgmma_sp {{.*}}, %[[E]]#0 if {{.*}} selector = 1 : i64}
  // CHECK: tile.wgmma_sp {{.*}}, %[[E]]#1 if {{.*}} selector = 0 : i64}
  // CHECK: tile.wgmma_sp {{.*}}, %[[E]]#1 if {{.*}} selector = 1 : i64}
  // CHECK-NEXT: tile.wgmma_commit
  gpu.func @sparse(%a: !Array, %codes: !Codes, %b: !Array, %c: !Result) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<128x64xf16>
    %te = tile.load %codes[%c0, %c0] : !Codes -> tensor<128x32xi4>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<128x128xf16>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %d = tile.dot_sp %ta, %tb, %zero, %te : tensor<128x64xf16>, tensor<128x128xf16>, tensor<128x128xf32>, tensor<128x32xi4>
    tile.store %d, %c[%c0, %c0] : tensor<128x128xf32>, !Result
    gpu.return
  }

  // FORM-LABEL: gpu.func @half_a_register
  // FORM-NOT: wgmma
  // WHY: 'tile.dot_sp' op is not for warpgroups: 8 codes of a row are not a multiple of the 16 of a register
  gpu.func @half_a_register(%a: !Array, %codes: !Codes, %b: !Array, %c: !Result) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %ta = tile.load %a[%c0, %c0] : !Array -> tensor<128x16xf16>
    %te = tile.load %codes[%c0, %c0] : !Codes -> tensor<128x8xi4>
    %tb = tile.load %b[%c0, %c0] : !Array -> tensor<32x128xf16>
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %d = tile.dot_sp %ta, %tb, %zero, %te : tensor<128x16xf16>, tensor<32x128xf16>, tensor<128x128xf32>, tensor<128x8xi4>
    %e = tile.dot_sp %ta, %tb, %d, %te {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : tensor<128x16xf16>, tensor<32x128xf16>, tensor<128x128xf32>, tensor<128x8xi4>
    tile.store %e, %c[%c0, %c0] : tensor<128x128xf32>, !Result
    gpu.return
  }
}
