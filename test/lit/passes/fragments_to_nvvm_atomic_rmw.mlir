// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s

!T = !tile.frag<tensor<32xi32>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>
!C = !tile.frag<tensor<16xf32>, #tile.layout<"register; lane [0] [1] [2] [4] [8] -> row 16">>
!P = !tile.frag<tensor<32xi1>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @old(
  gpu.func @old(%x: i32, %f: f32, %p: i1, %m: memref<32xi32>, %g: memref<16xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.fill %x : i32 -> !T
    // CHECK: "atom.relaxed.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"
    %0 = tile.atomic_rmw arith.addi %t, %m[%z] : !T, memref<32xi32>
    %c = tile.fill %p : i1 -> !P
    // Zero where it is not done.
    // CHECK: "mov.b32 $0, 0;{{.*}}@$1 atom.acquire.cta.global.cas.b32 $0, [$2], $3, $4;", "=&r,b,l,r,r,~{memory}" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} :
    %1 = tile.atomic_cas %0, %t, %m[%z] where %c {order = "acquire", scope = "cta"} : !T, memref<32xi32> where !P
    tile.store %1, %m[%z] : !T, memref<32xi32>
    // Of lanes that hold the same, one does it, and the other learns what it got.
    %h = tile.fill %f : f32 -> !C
    // CHECK: @$1 atom.relaxed.gpu.global.exch.b32 $0, [$2], $3;
    // CHECK: nvvm.shfl.sync idx
    %2 = tile.atomic_rmw exchange %h, %g[%z] : !C, memref<16xf32>
    tile.store %2, %g[%z] : !C, memref<16xf32>
    gpu.return
  }
}
