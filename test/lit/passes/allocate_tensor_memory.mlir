// RUN: tile-opt %s --tile-allocate-tensor-memory | FileCheck %s
// RUN: tile-opt %s --tile-allocate-tensor-memory --remarks 2>&1 >%t | FileCheck %s --check-prefix=WHY

!D = memref<128x128xf32, #tile.tensor<"d">>
!Small = memref<128x24xf32, #tile.tensor<"d">>
!S = memref<128x4xi8, #tile.tensor<"scale">>
!F = !tile.frag<tensor<32x4xf32>, #tile.layout<"register [0,1] [0,2]; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col 4">>

gpu.module @m [#nvvm.target<chip = "sm_100a">] {
  // 128 + 24 + 4 columns, of which 256 are asked for: one warp does it, and gives them back.
  // CHECK-LABEL: gpu.func @together(
  // CHECK: %[[SLOT:.*]] = tile.alloc_shared : memref<1x1xi32, #{{.*}}>
  // CHECK: %[[T:.*]] = gpu.thread_id x
  // CHECK: %[[C32:.*]] = arith.constant 32 : index
  // CHECK: %[[W:.*]] = arith.cmpi ult, %[[T]], %[[C32]] : index
  // CHECK: scf.if %[[W]] {
  // CHECK-NEXT: tile.tcgen05_alloc %[[SLOT]] columns 256
  // CHECK-NEXT: tile.tcgen05_relinquish
  // CHECK: tile.tcgen05_fence before
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.tcgen05_fence after
  // CHECK-DAG: tile.tensor_buffer %[[SLOT]] column 0 : {{.*}} -> memref<128x128xf32
  // CHECK-DAG: tile.tensor_buffer %[[SLOT]] column 128 : {{.*}} -> memref<128x24xf32
  // CHECK-DAG: tile.tensor_buffer %[[SLOT]] column 152 : {{.*}} -> memref<128x4xi8
  // CHECK: tile.tcgen05_st
  // CHECK: tile.tcgen05_fence before
  // CHECK-NEXT: gpu.barrier
  // CHECK: scf.if
  // CHECK-NEXT: tile.tcgen05_dealloc %[[SLOT]] columns 256
  // CHECK: gpu.return
  // WHY: remark: 'tile.alloc_tensor' op is of 156 columns of tensor memory, for which 256 are allocated
  gpu.func @together(%x: !F) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %d = tile.alloc_tensor : !D
    %s = tile.alloc_tensor : !S
    %e = tile.alloc_tensor : !Small
    tile.tcgen05_st %x, %d[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    tile.tcgen05_st %x, %e[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !Small
    gpu.return
  }

  // A barrier of all threads stands between what touches the one and what touches the other.
  // CHECK-LABEL: gpu.func @one_after_the_other(
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 128
  // CHECK: tile.tensor_buffer %{{.*}} column 0
  // CHECK: tile.tensor_buffer %{{.*}} column 0
  // WHY: remark: {{.*}} is of 128 columns of tensor memory, for which 128 are allocated; apart its buffers take 256
  gpu.func @one_after_the_other(%x: !F) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %d = tile.alloc_tensor : !D
    %e = tile.alloc_tensor : !D
    tile.tcgen05_st %x, %d[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    gpu.barrier
    tile.tcgen05_st %x, %e[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    gpu.return
  }

  // Branches of two warps are at work at the same time, and rounds of a loop follow each other.
  // CHECK-LABEL: gpu.func @at_the_same_time(
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 256
  gpu.func @at_the_same_time(%x: !F, %p: i1, %q: i1, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d = tile.alloc_tensor : !D
    %e = tile.alloc_tensor : !D
    scf.for %i = %c0 to %n step %c1 {
      tile.tcgen05_st %x, %d[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
      gpu.barrier
      tile.tcgen05_st %x, %e[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    }
    gpu.return
  }

  // A barrier of some warps, or in a branch, is none of all threads.
  // CHECK-LABEL: gpu.func @some_warps(
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 256
  gpu.func @some_warps(%x: !F, %p: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %half = arith.constant 64 : i32
    %d = tile.alloc_tensor : !D
    %e = tile.alloc_tensor : !D
    tile.tcgen05_st %x, %d[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    tile.tcgen05_fence before
    nvvm.barrier id = %one number_of_threads = %half
    scf.if %p {
      gpu.barrier
    }
    tile.tcgen05_st %x, %e[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    gpu.return
  }

  // What a branch or a choice gives may be the first or the second, whatever it is called.
  // CHECK-LABEL: gpu.func @under_other_names(
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 512
  gpu.func @under_other_names(%x: !F, %p: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %d = tile.alloc_tensor : !D
    %e = tile.alloc_tensor : !D
    %f = tile.alloc_tensor : !D
    %g = scf.if %p -> !D {
      scf.yield %d : !D
    } else {
      scf.yield %e : !D
    }
    %h = arith.select %p, %e, %d : !D
    gpu.barrier
    tile.tcgen05_st %x, %f[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    gpu.barrier
    tile.tcgen05_st %x, %g[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    tile.tcgen05_st %x, %h[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, !D
    gpu.return
  }

  // Large buffers first would leave two gaps of 56 columns where one of 112 is wanted.
  // CHECK-LABEL: gpu.func @gaps(
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 512
  // CHECK: tile.tensor_buffer %{{.*}} column 0 : {{.*}} -> memref<128x256xf32
  // CHECK: tile.tensor_buffer %{{.*}} column 312 : {{.*}} -> memref<128x200xf32
  // CHECK: tile.tensor_buffer %{{.*}} column 0 : {{.*}} -> memref<128x200xf32
  // CHECK: tile.tensor_buffer %{{.*}} column 200 : {{.*}} -> memref<128x112xf32
  gpu.func @gaps(%x: !F) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.alloc_tensor : memref<128x256xf32, #tile.tensor<"d">>
    %b = tile.alloc_tensor : memref<128x200xf32, #tile.tensor<"d">>
    %c = tile.alloc_tensor : memref<128x200xf32, #tile.tensor<"d">>
    %e = tile.alloc_tensor : memref<128x112xf32, #tile.tensor<"d">>
    tile.tcgen05_st %x, %a[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x256xf32, #tile.tensor<"d">>
    tile.tcgen05_st %x, %b[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x200xf32, #tile.tensor<"d">>
    gpu.barrier
    tile.tcgen05_st %x, %b[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x200xf32, #tile.tensor<"d">>
    tile.tcgen05_st %x, %c[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x200xf32, #tile.tensor<"d">>
    tile.tcgen05_st %x, %e[%c0, %c0] {form = "tcgen05.st.sync.aligned.32x32b.x4.b32"} : !F, memref<128x112xf32, #tile.tensor<"d">>
    gpu.return
  }

  // Both CTAs of a pair allocate, and wait for each other before they give back.
  // CHECK-LABEL: gpu.func @pair(
  // CHECK: tile.tcgen05_alloc %{{.*}} columns 32 {cta_group = 2 : i64}
  // CHECK-NEXT: tile.tcgen05_relinquish {cta_group = 2 : i64}
  // CHECK: gpu.barrier
  // CHECK: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK: tile.tcgen05_dealloc %{{.*}} columns 32 {cta_group = 2 : i64}
  gpu.func @pair() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %d = tile.alloc_tensor {cta_group = 2} : memref<256x32xf32, #tile.tensor<"d cta_group::2">>
    gpu.return
  }
}
