// RUN: tile-opt %s --tile-check-divergence --split-input-file --verify-diagnostics

// Every op that whole warps execute, under a condition on the lane.
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!T = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
!R = tensor<16x8xf32, #tile.layout<"m16n8k16 b f16">>
!TA = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!TB = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
gpu.module @m {
  gpu.func @k(%g: memref<64x64xf16>, %f: memref<64x64xf32>, %i: index, %h: f16, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = tile.alloc_shared : !S
    %a = tile.fill %h : f16 -> !A
    %b = tile.fill %h : f16 -> !B
    %c = tile.fill %x : f32 -> !C
    %ta = tile.fill %h : f16 -> !TA
    %tb = tile.fill %h : f16 -> !TB
    %lane = gpu.lane_id
    %p = arith.cmpi eq, %lane, %i : index
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if' that may send lanes of one warp different ways; legal: conditions and bounds that are the same in all lanes, such as those of block and warp numbers}}
      gpu.barrier
      // expected-error @below {{'nvvm.barrier' op is executed by whole warps}}
      nvvm.barrier
      // expected-error @below {{'tile.mma' op is executed by whole warps}}
      %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !A, !B, !C
      // expected-error @below {{'tile.ldmatrix' op is executed by whole warps}}
      %l = tile.ldmatrix %s[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
      // expected-error @below {{'tile.stmatrix' op is executed by whole warps}}
      tile.stmatrix %a, %s[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !A, !S
      // expected-error @below {{'tile.async_copy' op is executed by all warps of a CTA, but is nested in a 'scf.if' that may send them different ways; legal: conditions and bounds that are the same in all threads, such as those of block numbers}}
      tile.async_copy %g[%i, %i] to %s[%i, %i] shape [64, 64] {vector = 8} : memref<64x64xf16> to !S
      // expected-error @below {{'tile.load' op is executed by whole warps}}
      %t = tile.load %f[%i, %i] : memref<64x64xf32> -> !T
      // expected-error @below {{'tile.dot' op is executed by whole warps}}
      %e = tile.dot %ta, %tb, %t {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
          : !TA, !TB, !T
      // expected-error @below {{'tile.convert_layout' op is executed by all warps of a CTA}}
      %r = tile.convert_layout %e : !T -> !R
      // expected-error @below {{'tile.store' op is executed by whole warps}}
      tile.store %r, %f[%i, %i] : !R, memref<64x64xf32>
    }
    gpu.return
  }
}

// -----

// A thread number.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %p = arith.cmpi ult, %t, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// A bound within a warp.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %b = arith.constant 16 : index
    %p = arith.cmpi ult, %t, %b : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// One thread more than a warp.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %b = arith.constant 32 : index
    %p = arith.cmpi ule, %t, %b : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Half of a warp.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %b = arith.constant 4 : index
    %w = arith.shrui %t, %b : index
    %p = arith.cmpi ult, %w, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Rows of threads that are not whole warps: x, shifted, is not the warp.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 48, 2, 1>} {
    %t = gpu.thread_id x
    %b = arith.constant 5 : index
    %w = arith.shrui %t, %b : index
    %p = arith.cmpi ult, %w, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Nor is y.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 16, 4, 1>} {
    %t = gpu.thread_id y
    %p = arith.cmpi ult, %t, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// The thread in the grid.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.global_id x
    %p = arith.cmpi ult, %t, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// What a divergent address holds.
gpu.module @m {
  gpu.func @k(%m: memref<?xi1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %p = memref.load %m[%t] : memref<?xi1>
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// What a thread keeps in memory of its own.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %a = memref.alloca() : memref<1xindex>
    %c0 = arith.constant 0 : index
    memref.store %t, %a[%c0] : memref<1xindex>
    %v = memref.load %a[%c0] : memref<1xindex>
    %p = arith.cmpi ult, %v, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// What an atomic operation returns.
gpu.module @m {
  gpu.func @k(%m: memref<1xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %v = memref.atomic_rmw addi %one, %m[%c0] : (i32, memref<1xi32>) -> i32
    %p = arith.cmpi eq, %v, %one : i32
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// What assembly may have asked.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = llvm.inline_asm "mov.u32 $0, %laneid;", "=r" : () -> i32
    %c0 = arith.constant 0 : i32
    %p = arith.cmpi eq, %v, %c0 : i32
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// The lanes below this one.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = nvvm.read.ptx.sreg.lanemask.lt : i32
    %c0 = arith.constant 0 : i32
    %p = arith.cmpi eq, %v, %c0 : i32
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// An argument of a function that is not a kernel.
gpu.module @m {
  gpu.func @k(%p: i1) attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// A bound of a loop.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    // expected-note @below {{the divergent control flow is here}}
    scf.for %i = %t to %n step %c1 {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.for'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Its step.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @below {{the divergent control flow is here}}
    scf.for %i = %n to %n step %t {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.for'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// The condition of a while loop, in its first region.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @below {{the divergent control flow is here}}
    scf.while : () -> () {
      %p = arith.cmpi ult, %t, %n : index
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.while'}}
      gpu.barrier
      scf.condition(%p)
    } do {
      scf.yield
    }
    gpu.return
  }
}

// -----

// What a while loop carries.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    // expected-note @below {{the divergent control flow is here}}
    %e = scf.while (%k = %n) : (index) -> index {
      %p = arith.cmpi ult, %k, %n : index
      scf.condition(%p) %k : index
    } do {
    ^bb0(%k: index):
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.while'}}
      gpu.barrier
      %next = arith.addi %k, %t : index
      scf.yield %next : index
    }
    gpu.return
  }
}

// -----

// A choice among many.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    // expected-note @below {{the divergent control flow is here}}
    scf.index_switch %t
    case 0 {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.index_switch'}}
      gpu.barrier
      scf.yield
    }
    default {
    }
    gpu.return
  }
}

// -----

// A parallel loop, whose iterations the lanes may share out.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c1 = arith.constant 1 : index
    // expected-note @below {{the divergent control flow is here}}
    scf.parallel (%i) = (%c1) to (%n) step (%c1) {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.parallel'}}
      gpu.barrier
      scf.reduce
    }
    gpu.return
  }
}

// -----

// The outer of two.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %p = arith.cmpi ult, %t, %n : index
    %q = arith.cmpi eq, %n, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      scf.if %q {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
      }
    }
    gpu.return
  }
}

// -----

// What a divergent branch yields.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %p = arith.cmpi ult, %t, %n : index
    %c0 = arith.constant 0 : index
    %y = scf.if %p -> (index) {
      scf.yield %c0 : index
    } else {
      scf.yield %n : index
    }
    %q = arith.cmpi eq, %y, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %q {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// What a loop with a divergent bound has counted.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %y = scf.for %i = %c0 to %t step %c1 iter_args(%k = %c0) -> (index) {
      %k1 = arith.addi %k, %c1 : index
      scf.yield %k1 : index
    }
    %q = arith.cmpi eq, %y, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %q {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// What a loop carries from its second round on.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %y = scf.for %i = %n to %n step %c1 iter_args(%k = %n) -> (index) {
      %q = arith.cmpi eq, %k, %n : index
      // expected-note @below {{the divergent control flow is here}}
      scf.if %q {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
      }
      scf.yield %t : index
    }
    gpu.return
  }
}

// -----

// What a region yields.
gpu.module @m {
  gpu.func @k(%n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %y = scf.execute_region -> index {
      %t = gpu.thread_id x
      scf.yield %t : index
    }
    %q = arith.cmpi eq, %y, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %q {
      // expected-error @below {{'gpu.barrier' op is executed by whole warps, but is nested in a 'scf.if'}}
      gpu.barrier
    }
    gpu.return
  }
}

// -----

// Conversions and copies are the whole CTA's: a condition on the warp is not enough.
!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!R = tensor<32x8xf32, #tile.layout<"register [0,1] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 8">>
!F = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!G = !tile.frag<tensor<16x8xf32>, #tile.layout<"register [8,0] [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
gpu.module @m {
  gpu.func @warps(%n: index, %x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = tile.fill %x : f32 -> !T
    %f = tile.fill %x : f32 -> !F
    %w = gpu.subgroup_id : index
    %p = arith.cmpi eq, %w, %n : index
    // expected-note @below {{the divergent control flow is here}}
    scf.if %p {
      // expected-error @below {{'tile.convert_layout' op is executed by all warps of a CTA}}
      %r = tile.convert_layout %t : !T -> !R
      // A fragment's is its warp's.
      %g = tile.convert_layout %f : !F -> !G
    }
    gpu.return
  }

  // The only warp is the CTA.
  gpu.func @one_warp(%n: index, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = tile.fill %x : f32 -> tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
    %w = gpu.subgroup_id : index
    %p = arith.cmpi eq, %w, %n : index
    scf.if %p {
      %r = tile.convert_layout %t : tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">> -> tensor<16x8xf32, #tile.layout<"register [8,0] [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>
    }
    gpu.return
  }
}

// -----

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @place(%g: memref<?x64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %lane = gpu.thread_id x
    %warp = gpu.subgroup_id : index
    // expected-error @below {{'tile.load' op moves a tile of the whole CTA, but index 0 may differ between threads; legal: indices that are the same in all threads, such as those computed from block numbers}}
    %t = tile.load %g[%lane, %n] masked : memref<?x64xf32> -> tensor<16x8xf32>
    // expected-error @below {{'tile.store' op moves a tile of the whole CTA, but index 1 may differ}}
    tile.store %t, %g[%n, %warp] masked : tensor<16x8xf32>, memref<?x64xf32>
    // A fragment's place is its warp's.
    %f = tile.load %g[%warp, %n]
        : memref<?x64xf32> -> !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
    gpu.return
  }
}
