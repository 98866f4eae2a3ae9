// RUN: tile-opt %s --tile-order-memory | FileCheck %s

#L = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">
#R = #tile.layout<"register [1,0] [2,0] [4,0]; lane [8,0] [16,0] [0,1] [0,2] [0,4]; warp [0,8] -> row 32, col 16">
#V = #tile.layout<"register [1] [2] [4]; lane [0] [0] [0] [0] [8]; warp [16] -> row 32">
!T = tensor<32x16xf32, #L>
!U = tensor<32x16xf32, #R>
!V = tensor<32xf32, #V>
!G = memref<?x?xf32, strided<[?, 1]>>
!S = memref<32x16xf32, #tile.shared<"none">>
!A = memref<32x16xf32, #gpu.address_space<workgroup>>

gpu.module @m {
  // What other threads have stored is loaded after a barrier; one is enough for all that stands
  // between a batch of stores and a batch of loads.
  // CHECK-LABEL: gpu.func @batches(
  // CHECK: tile.store
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.load
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @batches(%x: !T, %g: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    tile.store %x, %g[%c32, %c0] masked : !T, !G
    %a = tile.load %g[%c1, %c0] masked : !G -> !T
    %b = tile.load %g[%c32, %c0] masked : !G -> !U
    gpu.return
  }

  // What is loaded stays until all have loaded it.
  // CHECK-LABEL: gpu.func @load_then_store(
  // CHECK: tile.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @load_then_store(%g: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %g[%c0, %c0] masked transposed : !G -> tensor<32x16xf32, #R>
    tile.store %a, %g[%c0, %c0] masked : !U, !G
    gpu.return
  }

  // Of two stores of different threads the second stays.
  // CHECK-LABEL: gpu.func @stores(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @stores(%x: !T, %y: !U, %g: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    tile.store %y, %g[%c0, %c0] masked : !U, !G
    gpu.return
  }

  // Each thread touches its own elements alone: the same place, under one layout.
  // CHECK-LABEL: gpu.func @own(
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @own(%g: !G, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %g[%i, %c0] masked : !G -> !T
    tile.store %a, %g[%i, %c0] masked : !T, !G
    %b = tile.load %g[%i, %c0] masked {vector = 2 : i64} : !G -> !T
    tile.store %b, %g[%i, %c0] masked : !T, !G
    gpu.return
  }

  // Lanes that hold copies load them all, and one of them stores.
  // CHECK-LABEL: gpu.func @copies(
  // CHECK: tile.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: gpu.return
  gpu.func @copies(%g: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %g[%c0] masked : memref<?xf32> -> !V
    tile.store %a, %g[%c0] masked : !V, memref<?xf32>
    tile.store %a, %g[%c0] masked : !V, memref<?xf32>
    gpu.return
  }

  // Arguments may be the same memory, unless one of them shares none.
  // CHECK-LABEL: gpu.func @arguments(
  // CHECK: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @arguments(%g: !G, %h: !G, %alone: !G {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %g[%c0, %c0] masked : !G -> !T
    tile.store %a, %alone[%c0, %c0] masked : !T, !G
    tile.store %a, %h[%c0, %c0] masked : !T, !G
    gpu.return
  }

  // A memref that is chosen at run time may be any.
  // CHECK-LABEL: gpu.func @chosen(
  // CHECK: tile.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @chosen(%g: !G, %alone: !G {llvm.noalias}, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = arith.select %p, %g, %alone : !G
    %a = tile.load %alone[%c1, %c0] masked : !G -> !T
    tile.store %a, %m[%c0, %c0] masked : !T, !G
    gpu.return
  }

  // Elements that lie apart: by constants, also after other indices and in leading dimensions, and
  // by multiples of what is never negative.
  // CHECK-LABEL: gpu.func @apart(
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @apart(%x: !T, %g: memref<?x?x?xf32>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %block = gpu.block_id x
    %again = gpu.block_id x
    %row = arith.muli %block, %c32 : index
    %row2 = arith.muli %again, %c32 : index
    %next = arith.addi %row2, %c32 : index
    %shift = arith.addi %i, %c16 : index
    %before = arith.subi %c0, %c32 : index
    tile.store %x, %g[%c0, %row, %i] masked : !T, memref<?x?x?xf32>
    %a = tile.load %g[%c1, %row, %i] masked : memref<?x?x?xf32> -> !T
    %b = tile.load %g[%c0, %next, %i] masked : memref<?x?x?xf32> -> !T
    %c = tile.load %g[%c0, %row, %shift] masked : memref<?x?x?xf32> -> !T
    %d = tile.load %g[%c0, %before, %i] masked : memref<?x?x?xf32> -> !U
    gpu.return
  }

  // CHECK-LABEL: gpu.func @not_surely_apart(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  gpu.func @not_surely_apart(%x: !T, %g: !G, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c31 = arith.constant 31 : index
    %next = arith.addi %i, %c31 : index
    tile.store %x, %g[%i, %c0] masked : !T, !G
    %a = tile.load %g[%next, %c0] masked : !G -> !T
    gpu.return
  }

  // The counter goes on by what a tile takes: no round touches what another does, in either nest.
  // CHECK-LABEL: gpu.func @rounds_apart(
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @rounds_apart(%x: !T, %y: !U, %g: !G, %h: !G {llvm.noalias}, %n: index, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    scf.for %i = %c0 to %n step %c32 {
      scf.if %p {
        tile.store %x, %g[%i, %c0] masked : !T, !G
      } else {
        tile.store %y, %g[%i, %c0] masked : !U, !G
      }
    }
    scf.for %i = %c0 to %n step %c1 {
      %row = arith.muli %i, %c32 : index
      scf.for %j = %c0 to %c2 step %c1 {
        %col = arith.muli %j, %c16 : index
        scf.if %p {
          tile.store %x, %h[%row, %col] masked : !T, !G
        } else {
          tile.store %y, %h[%row, %col] masked : !U, !G
        }
      }
    }
    gpu.return
  }

  // Less than a tile: what one round stores the next stores again, from other threads.
  // CHECK-LABEL: gpu.func @rounds_overlap(
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  gpu.func @rounds_overlap(%x: !T, %g: !G, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    scf.for %i = %c0 to %n step %c16 {
      tile.store %x, %g[%i, %c0] masked : !T, !G
    }
    gpu.return
  }

  // Rounds that touch one place each time: each thread's own, or not.
  // CHECK-LABEL: gpu.func @rounds_of_one_place(
  // CHECK: scf.for
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  // CHECK: scf.for
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.convert_layout
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  gpu.func @rounds_of_one_place(%g: !G, %h: !G {llvm.noalias}, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.load %h[%c0, %c0] masked : !G -> !T
      tile.store %a, %h[%c0, %c0] masked : !T, !G
    }
    scf.for %i = %c0 to %n step %c1 {
      %a = tile.load %g[%c0, %c0] masked : !G -> !T
      %b = tile.convert_layout %a : !T -> !U
      tile.store %b, %g[%c0, %c0] masked : !U, !G
    }
    gpu.return
  }

  // What comes before a loop is ordered once.
  // CHECK-LABEL: gpu.func @before_a_loop(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: tile.load
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @before_a_loop(%x: !T, %g: !G, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %a = tile.load %g[%i, %j] masked : !G -> !T
      }
    }
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    gpu.return
  }

  // A barrier that is there counts, in every round and at the loop's entry.
  // CHECK-LABEL: gpu.func @barriers_that_are_there(
  // CHECK: tile.store
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @barriers_that_are_there(%x: !T, %g: !G, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      %a = tile.load %g[%i, %c0] masked : !G -> !T
      gpu.barrier
      tile.store %a, %g[%c0, %i] masked : !T, !G
    }
    gpu.return
  }

  // Not one that orders shared memory alone.
  // CHECK-LABEL: gpu.func @barrier_of_shared_memory(
  // CHECK: gpu.barrier memfence
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  gpu.func @barrier_of_shared_memory(%x: !T, %g: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    gpu.barrier memfence [#gpu.address_space<workgroup>]
    %a = tile.load %g[%c1, %c0] masked : !G -> !T
    gpu.return
  }

  // A branch that has a barrier orders what comes after it on its way only.
  // CHECK-LABEL: gpu.func @branches(
  // CHECK: scf.if
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  gpu.func @branches(%x: !T, %g: !G, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    scf.if %p {
      %a = tile.load %g[%c1, %c0] masked : !G -> !T
    }
    %b = tile.load %g[%c1, %c0] masked : !G -> !T
    scf.if %p {
      tile.store %x, %g[%c0, %c0] masked : !T, !G
    }
    gpu.return
  }

  // Both regions of a while loop, and their rounds.
  // CHECK-LABEL: gpu.func @while(
  // CHECK: scf.while
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK: } do {
  // CHECK: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @while(%x: !T, %g: !G, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.while (%i = %c0) : (index) -> index {
      %a = tile.load %g[%i, %c0] masked : !G -> !T
      %go = arith.cmpi slt, %i, %n : index
      scf.condition(%go) %i : index
    } do {
    ^bb0(%i: index):
      tile.store %x, %g[%i, %c0] masked : !T, !G
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    }
    gpu.return
  }

  // A copy that is in flight still reads: its own thread waits for it first, but not for groups that
  // were begun later, and closes its group if it is open.
  // CHECK-LABEL: gpu.func @copies_under_way(
  // CHECK: tile.async_copy %[[G:arg[0-9]+]]
  // CHECK-NEXT: tile.async_commit
  // CHECK-NEXT: tile.async_copy
  // CHECK-NEXT: tile.async_commit
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.async_wait 1
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.async_copy
  // CHECK-NEXT: tile.async_commit
  // CHECK-NEXT: tile.async_wait 0
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @copies_under_way(%g: memref<?x16xf32>, %h: memref<?x16xf32> {llvm.noalias}, %x: tensor<32x16xf32, #L>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    %t = tile.alloc_shared : !S
    tile.async_copy %g[%c0, %c0] to %s[%c0, %c0] shape [32, 16] : memref<?x16xf32> to !S
    tile.async_commit
    tile.async_copy %h[%c0, %c0] to %t[%c0, %c0] shape [32, 16] : memref<?x16xf32> to !S
    tile.async_commit
    gpu.barrier
    tile.store %x, %g[%c0, %c0] masked : !T, memref<?x16xf32>
    tile.async_copy %h[%c0, %c0] to %t[%c0, %c0] shape [32, 16] : memref<?x16xf32> to !S
    tile.store %x, %h[%c0, %c0] masked : !T, memref<?x16xf32>
    gpu.return
  }

  // Where the wait and the barrier are there, as tile-stage-shared writes them, nothing is added; and
  // copies begin after the barrier for what they read.
  // CHECK-LABEL: gpu.func @staged(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.async_copy
  // CHECK-NEXT: tile.async_commit
  // CHECK-NEXT: tile.async_wait
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @staged(%g: memref<?x16xf32>, %x: tensor<32x16xf32, #L>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = tile.alloc_shared : !S
    tile.store %x, %g[%c0, %c0] masked : !T, memref<?x16xf32>
    tile.async_copy %g[%c0, %c0] to %s[%c0, %c0] shape [32, 16] : memref<?x16xf32> to !S
    tile.async_commit
    tile.async_wait 0
    gpu.barrier
    tile.store %x, %g[%c0, %c0] masked : !T, memref<?x16xf32>
    gpu.return
  }

  // Copies that are not cp.async, of two bytes, have read when the next op begins.
  // CHECK-LABEL: gpu.func @narrow_copies(
  // CHECK: tile.async_copy
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.store
  gpu.func @narrow_copies(%g: memref<?x16xf16>, %x: tensor<32x16xf16, #L>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s = tile.alloc_shared : memref<32x16xf16, #tile.shared<"none">>
    tile.async_copy %g[%c0, %c0] to %s[%c0, %c0] shape [32, 16]
        : memref<?x16xf16> to memref<32x16xf16, #tile.shared<"none">>
    tile.store %x, %g[%c0, %c0] masked : tensor<32x16xf16, #L>, memref<?x16xf16>
    gpu.return
  }

  // Updates by one function come in any order; by different ones, and against loads and stores, in
  // that of the program.
  // CHECK-LABEL: gpu.func @updates(
  // CHECK: tile.atomic arith.addf
  // CHECK-NEXT: tile.atomic arith.addf
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.atomic arith.addi
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.atomic arith.maxsi
  gpu.func @updates(%x: !T, %i: tensor<32x16xi32, #R>, %g: memref<?x16xf32>, %h: memref<?x16xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tile.atomic arith.addf %x, %g[%c0, %c0] masked : !T, memref<?x16xf32>
    tile.atomic arith.addf %x, %g[%c1, %c0] masked : !T, memref<?x16xf32>
    %a = tile.load %g[%c0, %c0] masked : memref<?x16xf32> -> !T
    tile.atomic arith.addi %i, %h[%c0, %c0] masked : tensor<32x16xi32, #R>, memref<?x16xi32>
    tile.atomic arith.maxsi %i, %h[%c1, %c0] masked : tensor<32x16xi32, #R>, memref<?x16xi32>
    gpu.return
  }

  // What single threads access is ordered against tiles; against each other where all threads do the
  // same, and else it is their program's business.
  // CHECK-LABEL: gpu.func @scalars(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: memref.load
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: memref.store {{.*}}[%c0
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: memref.load
  // CHECK: gpu.return
  gpu.func @scalars(%x: !T, %g: memref<?x16xf32>, %h: memref<?xf32> {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %thread = gpu.thread_id x
    %next = arith.addi %thread, %c1 : index
    tile.store %x, %g[%c0, %c0] masked : !T, memref<?x16xf32>
    %s = memref.load %g[%c0, %c1] : memref<?x16xf32>
    memref.store %s, %g[%c0, %c1] : memref<?x16xf32>
    memref.store %s, %h[%thread] : memref<?xf32>
    %t = memref.load %h[%next] : memref<?xf32>
    memref.store %t, %h[%c0] : memref<?xf32>
    gpu.return
  }

  // Where only some warps come a barrier stands in front.
  // CHECK-LABEL: gpu.func @some_warps(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tile.load
  gpu.func @some_warps(%x: !T, %g: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %warp = gpu.subgroup_id : index
    %first = arith.cmpi eq, %warp, %c0 : index
    tile.store %x, %g[%c0, %c0] masked : !T, !G
    scf.if %first {
      %a = tile.load %g[%c1, %c0] masked : !G -> !T
    }
    gpu.return
  }

  // Programs of fragments order themselves.
  // CHECK-LABEL: gpu.func @fragments(
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @fragments(%x: !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>, %g: !G) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    tile.store %x, %g[%c0, %c0] : !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>, !G
    %a = tile.load %g[%c0, %c0] : !G -> !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
    gpu.return
  }

  // Who is alone says so to the launch, which need not look at what nobody writes.
  // CHECK-LABEL: gpu.func @written(
  // CHECK-SAME: tile.written = array<i64: 1>
  gpu.func @written(%g: !G {llvm.noalias}, %h: !G {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.load %g[%c0, %c0] masked : !G -> !T
    tile.store %a, %h[%c0, %c0] masked : !T, !G
    gpu.return
  }

  // Arrays in shared memory are ordered as well: one barrier between what fills them and who
  // updates them, none between different ones, nor between updates by one function.
  // CHECK-LABEL: gpu.func @shared_arrays(
  // CHECK-SAME: tile.written = array<i64: 1>
  // CHECK: tile.store
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.load %{{.*}}masked
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.atomic arith.addf
  // CHECK-NEXT: tile.atomic arith.addf
  // CHECK-NEXT: tile.atomic arith.addf
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @shared_arrays(%x: !T, %g: !G {llvm.noalias}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !A
    tile.store %x, %a[%c0, %c0] : !T, !A
    tile.store %x, %b[%c0, %c0] : !T, !A
    %y = tile.load %g[%c0, %c0] masked : !G -> !U
    tile.atomic arith.addf %y, %a[%c0, %c0] : !U, !A
    tile.atomic arith.addf %y, %b[%c0, %c0] : !U, !A
    tile.atomic arith.addf %x, %a[%c0, %c0] : !T, !A
    %s = tile.load %a[%c0, %c0] : !A -> !U
    tile.store %s, %g[%c0, %c0] masked : !U, !G
    gpu.return
  }

  // So is memory that a kernel declares.
  // CHECK-LABEL: gpu.func @declared(
  // CHECK: tile.store
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load
  // CHECK-NEXT: tile.store
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.return
  gpu.func @declared(%x: !T, %g: !G) workgroup(%a: !A, %b: !A) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    tile.store %x, %a[%c0, %c0] : !T, !A
    %s = tile.load %a[%c0, %c0] : !A -> !U
    tile.store %s, %b[%c0, %c0] : !U, !A
    gpu.return
  }
}
