// RUN: tile-opt %s --tile-reuse-shared | FileCheck %s
// RUN: tile-opt %s --tile-reuse-shared --remarks -o %t.mlir 2>%t.err
// RUN: FileCheck %s --input-file %t.err --check-prefix=REMARK

#L = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
!T = tensor<32x16xf32, #L>
!S = memref<32x16xf32, #tile.shared<"none">>
!P = memref<2x32x16xf32, #tile.shared<"none">>
!G = memref<?x16xf32>

gpu.module @m {
  // Two trips, one after the other: one place. The second has its barrier.
  // CHECK-LABEL: gpu.func @trips(
  // CHECK: tile.alloc_shared at 0
  // CHECK: tile.alloc_shared at 0
  // CHECK: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // REMARK: reuse_shared.mlir:[[#@LINE+1]]:3: remark: 'gpu.func' op has 2 buffers that share 2048 bytes of shared memory; apart they take 4096 [tile-reuse-shared]
  gpu.func @trips(%x: !T, %g: !G) attributes {known_block_size = array<i32: 64, 1, 1>, tile.automatic} {
    %z = arith.constant 0 : index
    %a = tile.alloc_shared : !S
    %b = tile.alloc_shared : !S
    gpu.barrier
    tile.store %x, %a[%z, %z] : !T, !S
    gpu.barrier
    %y = tile.load %a[%z, %z] : !S -> !T
    gpu.barrier
    tile.store %y, %b[%z, %z] : !T, !S
    gpu.barrier
    %w = tile.load %b[%z, %z] : !S -> !T
    tile.store %w, %g[%z, %z] : !T, !G
    gpu.return
  }

  // A buffer whose stages live through a loop, and one of each round: apart. The one after the
  // loop takes the place of both, once nobody reads there, and no copy is in flight.
  // CHECK-LABEL: gpu.func @loop(
  // CHECK: tile.alloc_shared at 0 : memref<2x32x16xf32
  // CHECK: tile.alloc_shared at 4096
  // CHECK: tile.alloc_shared at 0
  // CHECK: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.async_wait 0
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @loop(%x: !T, %g: !G, %n: index) attributes {known_block_size = array<i32: 64, 1, 1>, tile.automatic} {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %stages = tile.alloc_shared : !P
    %round = tile.alloc_shared : !S
    %after = tile.alloc_shared : !S
    tile.async_copy %g[%z, %z] to %stages[%z, %z, %z] shape [32, 16] : !G to !P
    tile.async_commit
    %sum = scf.for %i = %z to %n step %one iter_args(%s = %x) -> (!T) {
      tile.async_wait 0
      gpu.barrier
      %t = tile.load %stages[%z, %z, %z] : !P -> !T
      gpu.barrier
      tile.store %t, %round[%z, %z] : !T, !S
      gpu.barrier
      %u = tile.load %round[%z, %z] : !S -> !T
      %v = arith.addf %s, %u : !T
      scf.yield %v : !T
    }
    tile.store %sum, %after[%z, %z] : !T, !S
    gpu.barrier
    %w = tile.load %after[%z, %z] : !S -> !T
    tile.store %w, %g[%z, %z] : !T, !G
    gpu.return
  }

  // Nobody reads %a, and still its copy is in flight until a wait covers it, which none does as long
  // as its group is open: %b, of the same group, lies elsewhere, and %c may take the place.
  // CHECK-LABEL: gpu.func @unread(
  // CHECK: %[[A:.*]] = tile.alloc_shared at 0
  // CHECK: tile.alloc_shared at 2048
  // CHECK: tile.alloc_shared at 0
  // CHECK: tile.async_copy %{{.*}} to %[[A]][
  // CHECK-NEXT: tile.async_copy
  // CHECK-NEXT: tile.async_commit
  // CHECK-NEXT: tile.async_wait 0
  // CHECK-NEXT: gpu.barrier
  gpu.func @unread(%g: !G, %h: !G) attributes {known_block_size = array<i32: 64, 1, 1>, tile.automatic} {
    %z = arith.constant 0 : index
    %a = tile.alloc_shared : !S
    %b = tile.alloc_shared : !S
    %c = tile.alloc_shared : !S
    tile.async_copy %g[%z, %z] to %a[%z, %z] shape [32, 16] : !G to !S
    tile.async_copy %g[%z, %z] to %b[%z, %z] shape [32, 16] : !G to !S
    tile.async_commit
    tile.async_wait 0
    gpu.barrier
    %t = tile.load %b[%z, %z] : !S -> !T
    gpu.barrier
    tile.store %t, %c[%z, %z] : !T, !S
    gpu.barrier
    %u = tile.load %c[%z, %z] : !S -> !T
    tile.store %u, %h[%z, %z] : !T, !G
    gpu.return
  }

  // A group that the loop leaves open: its copy is in flight in every later round as well, also when
  // an earlier op of the body writes.
  // CHECK-LABEL: gpu.func @open(
  // CHECK: tile.alloc_shared at 0
  // CHECK: tile.alloc_shared at 2048
  // CHECK: scf.for
  gpu.func @open(%x: !T, %g: !G, %h: !G, %n: index) attributes {known_block_size = array<i32: 64, 1, 1>, tile.automatic} {
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = tile.alloc_shared : !S
    %b = tile.alloc_shared : !S
    scf.for %i = %z to %n step %one {
      gpu.barrier
      tile.store %x, %b[%z, %z] : !T, !S
      gpu.barrier
      %t = tile.load %b[%z, %z] : !S -> !T
      tile.store %t, %h[%z, %z] : !T, !G
      tile.async_copy %g[%z, %z] to %a[%z, %z] shape [32, 16] : !G to !S
    }
    tile.async_commit
    gpu.return
  }

  // Copies that are not cp.async, of two bytes, are done when the next op begins.
  // CHECK-LABEL: gpu.func @narrow(
  // CHECK: tile.alloc_shared at 0
  // CHECK: tile.alloc_shared at 0
  // CHECK-NOT: tile.async_wait
  // CHECK: gpu.return
  gpu.func @narrow(%x: tensor<32x16xf16, #L>, %g: memref<?x16xf16>) attributes {known_block_size = array<i32: 64, 1, 1>, tile.automatic} {
    %z = arith.constant 0 : index
    %a = tile.alloc_shared : memref<32x16xf16, #tile.shared<"none">>
    %b = tile.alloc_shared : memref<32x16xf16, #tile.shared<"none">>
    tile.async_copy %g[%z, %z] to %a[%z, %z] shape [32, 16]
        : memref<?x16xf16> to memref<32x16xf16, #tile.shared<"none">>
    gpu.barrier
    tile.store %x, %b[%z, %z] : tensor<32x16xf16, #L>, memref<32x16xf16, #tile.shared<"none">>
    gpu.return
  }

  // Who places buffers by hand keeps them apart.
  // CHECK-LABEL: gpu.func @by_hand(
  // CHECK-NOT: offset
  gpu.func @by_hand(%x: !T, %g: !G) attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.alloc_shared : !S
    %b = tile.alloc_shared : !S
    tile.store %x, %a[%z, %z] : !T, !S
    gpu.barrier
    %y = tile.load %a[%z, %z] : !S -> !T
    tile.store %y, %b[%z, %z] : !T, !S
    gpu.return
  }

  // What a branch gives may be the first or the second: neither's bytes are free while it is used.
  // CHECK-LABEL: gpu.func @chosen(
  // CHECK: tile.alloc_shared at 0
  // CHECK: tile.alloc_shared at 2048
  // CHECK: tile.alloc_shared at 4096
  gpu.func @chosen(%x: !T, %g: !G, %p: i1) attributes {known_block_size = array<i32: 64, 1, 1>, tile.automatic} {
    %z = arith.constant 0 : index
    %a = tile.alloc_shared : !S
    %b = tile.alloc_shared : !S
    %c = tile.alloc_shared : !S
    tile.store %x, %a[%z, %z] : !T, !S
    tile.store %x, %b[%z, %z] : !T, !S
    %d = scf.if %p -> !S {
      scf.yield %a : !S
    } else {
      scf.yield %b : !S
    }
    gpu.barrier
    tile.store %x, %c[%z, %z] : !T, !S
    gpu.barrier
    %y = tile.load %d[%z, %z] : !S -> !T
    tile.store %y, %g[%z, %z] : !T, !G
    gpu.return
  }
}
