// RUN: tilec %s -o %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
//
// Rows of a matrix by their numbers on Blackwell, at level 3: `gather` computes Y[i] = X[index[i]],
// `scatter` Y[index[i]] = X[i], 64 rows of 64 columns of f16 a CTA.
//
// Each of sixteen threads reads four numbers and issues one copy of four rows, whose tensor map has
// boxes of one row; an mbarrier counts the bytes of all. Numbers may repeat and come in any order.
// Rows of X that are not there are zeros, and rows of Y that are not there are not stored: so a
// thread takes -1 for the numbers beyond the end of `index`.
//
// Launch ceil(rows of index / 64) CTAs along x, ceil(columns / 64) along y.

!M = memref<?x?xf16, strided<[?, 1]>>
!I = memref<?xi32>
!S = memref<64x64xf16, #tile.shared<"128B">>
!Bar = memref<1xi64, #tile.shared<"none">>

gpu.module @rows [#nvvm.target<chip = "sm_100a">] {
  gpu.func @gather(%x: !M, %index: !I, %y: !M) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %none = arith.constant -1 : index
    %even = arith.constant false
    %s = tile.alloc_shared : !S
    %bar = tile.alloc_shared : !Bar
    %count = memref.dim %index, %c0 : !I
    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %begin = arith.muli %block_x, %c64 : index
    %col = arith.muli %block_y, %c64 : index
    %thread = gpu.thread_id x
    %is_first = arith.cmpi eq, %thread, %c0 : index
    %copies = arith.cmpi ult, %thread, %c16 : index
    %line = arith.muli %thread, %c4 : index
    %first = arith.addi %begin, %line : index
    scf.if %is_first {
      tile.barrier_init %bar[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
      tile.barrier_expect %bar[%c0] bytes 8192 : !Bar
    }
    gpu.barrier
    scf.if %copies {
      %in0 = arith.cmpi ult, %first, %count : index
      %r0 = scf.if %in0 -> (index) {
        %v = memref.load %index[%first] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      %at1 = arith.addi %first, %c1 : index
      %in1 = arith.cmpi ult, %at1, %count : index
      %r1 = scf.if %in1 -> (index) {
        %v = memref.load %index[%at1] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      %at2 = arith.addi %first, %c2 : index
      %in2 = arith.cmpi ult, %at2, %count : index
      %r2 = scf.if %in2 -> (index) {
        %v = memref.load %index[%at2] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      %at3 = arith.addi %first, %c3 : index
      %in3 = arith.cmpi ult, %at3, %count : index
      %r3 = scf.if %in3 -> (index) {
        %v = memref.load %index[%at3] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      tile.tma_gather %x[%r0, %r1, %r2, %r3, %col] to %s[%line, %c0] signal %bar[%c0] shape [4, 64]
          : !M to !S signal !Bar
    }
    tile.barrier_wait %bar[%c0] parity %even : !Bar
    scf.if %is_first {
      tile.tma_store %y[%begin, %col] from %s[%c0, %c0] shape [64, 64] : !M from !S
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }

  gpu.func @scatter(%x: !M, %index: !I, %y: !M) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %none = arith.constant -1 : index
    %even = arith.constant false
    %s = tile.alloc_shared : !S
    %bar = tile.alloc_shared : !Bar
    %count = memref.dim %index, %c0 : !I
    %block_x = gpu.block_id x
    %block_y = gpu.block_id y
    %begin = arith.muli %block_x, %c64 : index
    %col = arith.muli %block_y, %c64 : index
    %thread = gpu.thread_id x
    %is_first = arith.cmpi eq, %thread, %c0 : index
    %copies = arith.cmpi ult, %thread, %c16 : index
    %line = arith.muli %thread, %c4 : index
    %first = arith.addi %begin, %line : index
    scf.if %is_first {
      tile.barrier_init %bar[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
      tile.barrier_expect %bar[%c0] bytes 8192 : !Bar
      tile.tma_load %x[%begin, %col] to %s[%c0, %c0] signal %bar[%c0] shape [64, 64]
          : !M to !S signal !Bar
    }
    gpu.barrier
    tile.barrier_wait %bar[%c0] parity %even : !Bar
    scf.if %copies {
      %in0 = arith.cmpi ult, %first, %count : index
      %r0 = scf.if %in0 -> (index) {
        %v = memref.load %index[%first] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      %at1 = arith.addi %first, %c1 : index
      %in1 = arith.cmpi ult, %at1, %count : index
      %r1 = scf.if %in1 -> (index) {
        %v = memref.load %index[%at1] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      %at2 = arith.addi %first, %c2 : index
      %in2 = arith.cmpi ult, %at2, %count : index
      %r2 = scf.if %in2 -> (index) {
        %v = memref.load %index[%at2] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      %at3 = arith.addi %first, %c3 : index
      %in3 = arith.cmpi ult, %at3, %count : index
      %r3 = scf.if %in3 -> (index) {
        %v = memref.load %index[%at3] : !I
        %n = arith.index_cast %v : i32 to index
        scf.yield %n : index
      } else {
        scf.yield %none : index
      }
      tile.tma_scatter %y[%r0, %r1, %r2, %r3, %col] from %s[%line, %c0] shape [4, 64] : !M from !S
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }
    gpu.return
  }
}

// CHECK-LABEL: .entry gather(
// CHECK: mbarrier.arrive.expect_tx.release.cta.shared::cta.b64
// CHECK: cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r{{[0-9]+}}], [%rd{{[0-9]+}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
// CHECK-NOT: gather4
// CHECK-LABEL: .entry scatter(
// CHECK: cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd{{[0-9]+}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}], [%r{{[0-9]+}}];
