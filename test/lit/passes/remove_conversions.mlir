// RUN: tile-opt %s --tile-remove-conversions | FileCheck %s

// Accumulators and A of m16n8k16, rows, and rows the other way round.
#C = #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
#L = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp [16,0] -> row 32, col 16">
#W = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [2,0] [4,0] [8,0] [16,0]; warp [1,0] -> row 32, col 16">
!C = tensor<32x16xf32, #C>
!L = tensor<32x16xf32, #L>
!W = tensor<32x16xf32, #W>
!CH = tensor<32x16xf16, #C>
!LH = tensor<32x16xf16, #L>
!PA = tensor<32x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!PB = tensor<16x16xf16, #tile.layout<"register [1,0] [8,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,0] -> row 16, col 16">>
!G = memref<32x16xf32>
!H = memref<32x16xf16>

// CHECK-DAG: #[[C:[A-Za-z0-9_]+]] = #tile.operand<c, m16n8, 32x16, warps 2x1>
// CHECK-DAG: #[[L:[A-Za-z0-9_]+]] = #tile.layout<"register [0,1] [0,2] [0,4]; lane [0,8] [1,0]

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // What memory holds is loaded under the layout wanted; constants are made so.
  // CHECK-LABEL: gpu.func @made_so(
  // CHECK-NOT: tile.convert_layout
  // CHECK: arith.constant dense<2.000000e+00> : tensor<32x16xf32, #[[L]]>
  // CHECK: tile.load{{.*}} -> tensor<32x16xf32, #[[L]]>
  // CHECK: arith.mulf {{.*}} : tensor<32x16xf32, #[[L]]>
  // CHECK-NOT: tile.convert_layout
  // CHECK: gpu.return
  gpu.func @made_so(%g: !G) kernel attributes {tile.automatic, known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %two = arith.constant dense<2.0> : !C
    %x = tile.load %g[%z, %z] : !G -> !C
    %y = arith.mulf %x, %two : !C
    %c = tile.convert_layout %y : !C -> !L
    tile.store %c, %g[%z, %z] : !L, !G
    gpu.return
  }

  // There and back: nothing.
  // CHECK-LABEL: gpu.func @there_and_back(
  // CHECK: %[[X:.*]] = tile.load
  // CHECK-NEXT: %[[E:.*]] = math.sqrt %[[X]]
  // CHECK-NEXT: tile.store %[[E]],
  gpu.func @there_and_back(%g: !G) kernel attributes {tile.automatic, known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %x = tile.load %g[%z, %z] : !G -> !C
    %e = math.sqrt %x : !C
    %c = tile.convert_layout %e : !C -> !W
    %d = tile.convert_layout %c : !W -> !C
    tile.store %d, %g[%z, %z] : !C, !G
    gpu.return
  }

  // Out of the loop that does not change the tile, and one for both uses.
  // CHECK-LABEL: gpu.func @invariant(
  // CHECK: %[[X:.*]] = scf.if
  // CHECK: %[[B:.*]] = tile.convert_layout %[[X]]
  // CHECK-NOT: tile.convert_layout
  // CHECK: scf.for
  // CHECK: tile.store %[[B]],
  // CHECK: tile.store %[[B]],
  gpu.func @invariant(%g: !G, %n: index, %b: i1) kernel attributes {tile.automatic, known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = scf.if %b -> !C {
      %t = tile.load %g[%z, %z] : !G -> !C
      scf.yield %t : !C
    } else {
      %t = arith.constant dense<1.0> : !C
      scf.yield %t : !C
    }
    scf.for %i = %z to %n step %c1 {
      %c = tile.convert_layout %x : !C -> !W
      %d = tile.convert_layout %x : !C -> !W
      tile.store %c, %g[%i, %z] : !W, !G
      tile.store %d, %g[%z, %i] : !W, !G
    }
    gpu.return
  }

  // The loop hands on what it works on; the conversions stand before and after it.
  // CHECK-LABEL: gpu.func @carried(
  // CHECK: %[[X:.*]] = scf.if
  // CHECK: %[[B:.*]] = tile.convert_layout %[[X]]
  // CHECK-NEXT: %[[R:.*]] = scf.for {{.*}} iter_args(%[[I:.*]] = %[[B]])
  // CHECK-NEXT: %[[M:.*]] = tile.dot %{{.*}}, %{{.*}}, %[[I]]
  // CHECK-NEXT: scf.yield %[[M]]
  // CHECK: %[[E:.*]] = tile.convert_layout %[[R]]
  // CHECK-NEXT: tile.store %[[E]],
  gpu.func @carried(%g: !G, %h: memref<32x16xf16>, %n: index, %b: i1) kernel attributes {tile.automatic, known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tile.load %h[%z, %z] : !H -> !PA
    %q = tile.load %h[%z, %z] : !H -> !PB
    %x = scf.if %b -> !W {
      %t = tile.load %g[%z, %z] : !G -> !W
      scf.yield %t : !W
    } else {
      %t = arith.constant dense<1.0> : !W
      scf.yield %t : !W
    }
    %r = scf.for %i = %z to %n step %c1 iter_args(%a = %x) -> !W {
      %c = tile.convert_layout %a : !W -> !C
      %m = tile.dot %p, %q, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !PA, !PB, !C
      %d = tile.convert_layout %m : !C -> !W
      scf.yield %d : !W
    }
    tile.store %r, %g[%z, %z] : !W, !G
    gpu.return
  }

  // Half the bits after the cast.
  // CHECK-LABEL: gpu.func @narrowed(
  // CHECK: arith.truncf {{.*}} : tensor<32x16xf32, #[[C]]> to tensor<32x16xf16, #[[C]]>
  // CHECK-NEXT: tile.convert_layout{{.*}} : tensor<32x16xf16, #[[C]]> -> tensor<32x16xf16, #[[L]]>
  gpu.func @narrowed(%g: !G, %h: !H, %n: index) kernel attributes {tile.automatic, known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = tile.load %g[%z, %z] : !G -> !C
    %r = scf.for %i = %z to %n step %c1 iter_args(%a = %x) -> !C {
      %m = math.sqrt %a : !C
      scf.yield %m : !C
    }
    %c = tile.convert_layout %r : !C -> !L
    %d = arith.truncf %c : !L to !LH
    tile.store %d, %h[%z, %z] : !LH, !H
    gpu.return
  }
}
