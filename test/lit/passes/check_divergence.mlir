// RUN: tile-opt %s --tile-check-divergence | FileCheck %s

// Control flow that takes all lanes of a warp the same way. `gpu.barrier` stands for any op that
// whole warps execute.

// CHECK: gpu.module @m
gpu.module @m {
  gpu.func @conditions(%p: i1, %n: index, %m: memref<?xi1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c95 = arith.constant 95 : index
    %cm32 = arith.constant -32 : index
    // An argument.
    scf.if %p {
      gpu.barrier
    }
    // Block numbers, and what is computed from them and from constants.
    %block = gpu.block_id x
    %size = gpu.block_dim x
    %start = arith.muli %block, %size : index
    %first = arith.cmpi ult, %start, %n : index
    scf.if %first {
      gpu.barrier
    } else {
      gpu.barrier
    }
    // What stands at a uniform address.
    %flag = memref.load %m[%block] : memref<?xi1>
    scf.if %flag {
      gpu.barrier
    }
    // The warp, however it is computed.
    %thread = gpu.thread_id x
    %w0 = arith.shrui %thread, %c5 : index
    %w1 = arith.divui %thread, %c64 : index
    %w2 = arith.andi %thread, %cm32 : index
    %narrow = arith.index_cast %thread : index to i32
    %five = arith.constant 5 : i32
    %w3 = arith.shrsi %narrow, %five : i32
    %w4 = arith.index_cast %w3 : i32 to index
    %w5 = gpu.subgroup_id : index
    %s0 = arith.addi %w0, %w1 : index
    %s1 = arith.addi %s0, %w2 : index
    %s2 = arith.addi %s1, %w4 : index
    %s3 = arith.addi %s2, %w5 : index
    %odd = arith.cmpi eq, %s3, %n : index
    scf.if %odd {
      gpu.barrier
    }
    // Threads up to a whole number of warps.
    %low = arith.cmpi ult, %thread, %c64 : index
    scf.if %low {
      gpu.barrier
    }
    %high = arith.cmpi ugt, %thread, %c95 : index
    scf.if %high {
      gpu.barrier
    }
    gpu.return
  }

  gpu.func @loops(%n: index, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : index
    %warp = gpu.subgroup_id : index
    // A bound that differs between warps, not within one; and a condition on what the loop carries.
    %sum = scf.for %i = %warp to %n step %c1 iter_args(%acc = %warp) -> (index) {
      %even = arith.cmpi eq, %acc, %i : index
      scf.if %even {
        gpu.barrier
      }
      %next = arith.addi %acc, %i : index
      scf.yield %next : index
    }
    %r = scf.if %p -> (index) {
      scf.yield %sum : index
    } else {
      scf.yield %n : index
    }
    %end = scf.while (%k = %r) : (index) -> index {
      gpu.barrier
      %more = arith.cmpi ult, %k, %n : index
      scf.condition(%more) %k : index
    } do {
    ^bb0(%k: index):
      gpu.barrier
      %next = arith.addi %k, %c1 : index
      scf.yield %next : index
    }
    scf.index_switch %end
    case 0 {
      gpu.barrier
      scf.yield
    }
    default {
      gpu.barrier
    }
    gpu.return
  }

  // Rows of threads that are whole warps: y and z are the warp's.
  gpu.func @rows(%n: index) kernel attributes {known_block_size = array<i32: 32, 4, 2>} {
    %y = gpu.thread_id y
    %z = gpu.thread_id z
    %yz = arith.addi %y, %z : index
    %p = arith.cmpi ult, %yz, %n : index
    scf.if %p {
      gpu.barrier
    }
    gpu.return
  }

  // What needs no whole warp may stand anywhere.
  gpu.func @divergent(%m: memref<?x?xf16>, %x: f16) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %p = arith.cmpi eq, %lane, %c0 : index
    scf.if %p {
      %f = tile.fill %x : f16 -> !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
      tile.store %f, %m[%c0, %c0]
          : !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>, memref<?x?xf16>
    }
    gpu.return
  }
}
