// RUN: tile-opt %s --tile-fragments-to-nvvm | FileCheck %s
// RUN: tile-opt %s --tile-fragments-to-nvvm --tile-kernel-abi | FileCheck %s --check-prefix=ABI

// One map for two copies of the same box; the launch makes it of argument 1.

!M = memref<?x?xf16, strided<[?, 1]>>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<2xi64, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @copies(
  // CHECK-SAME: %[[N:.*]]: index, %{{.*}}: memref<?x?xf16, strided<[?, 1]>>, %[[MAP:[^:]*]]: !llvm.ptr) kernel
  // CHECK-SAME: tile.tensor_maps = "[{\22array\22: 1, \22box\22: [64, 64], \22swizzle\22: \22128B\22}]"
  // ABI: tile.abi = "[{\22name\22: \22n\22, \22kind\22: \22scalar\22, \22type\22: \22i64\22}, {\22name\22: \22m\22, {{.*}}}, {\22name\22: \22m_map\22, \22kind\22: \22tensor_map\22, \22type\22: \22f16\22, \22array\22: 1, \22box\22: [64, 64], \22swizzle\22: \22128B\22}]"
  gpu.func @copies(%n: index loc("n"), %m: !M loc("m")) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %true = arith.constant true
    %s = tile.alloc_shared : !S
    %b = tile.alloc_shared : !Bars
    // CHECK: llvm.inline_asm has_side_effects "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}"
    tile.barrier_init %b[%c1] count 2 : !Bars
    // CHECK: llvm.inline_asm has_side_effects "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}"
    tile.barrier_expect %b[%c1] bytes 8192 : !Bars
    // CHECK: llvm.inline_asm has_side_effects "mbarrier.arrive.release.cta.shared::cta.b64 _, [$0];", "r,~{memory}"
    tile.barrier_arrive %b[%c1] : !Bars
    // Coordinates stand with that of the contiguous dimension first.
    // CHECK: %[[COLUMN:.*]] = arith.index_cast %c0{{.*}} : index to i32
    // CHECK: %[[ROW:.*]] = arith.index_cast %[[N]] : index to i32
    // CHECK: llvm.inline_asm has_side_effects "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3}], [$4];", "r,l,r,r,r,~{memory}" %{{.*}}, %[[MAP]], %[[COLUMN]], %[[ROW]]
    tile.tma_load %m[%n, %c0] to %s[%c1, %c0, %c0] signal %b[%c1] shape [64, 64]
        : !M to !S signal !Bars
    // CHECK: scf.while : () -> () {
    // CHECK: %[[DONE:.*]] = llvm.inline_asm has_side_effects "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 $0, [$1], $2;", "=b,r,r,~{memory}"
    // CHECK: %[[AGAIN:.*]] = llvm.xor %[[DONE]]
    // CHECK: scf.condition(%[[AGAIN]])
    tile.barrier_wait %b[%c1] parity %true : !Bars
    // CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [$1, {$2, $3}], [$0];", "r,l,r,r,~{memory}" %{{.*}}, %[[MAP]]
    tile.tma_store %m[%c0, %c0] from %s[%c1, %c0, %c0] shape [64, 64] : !M from !S
    // CHECK: "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [$1, {$2, $3}], [$0];"
    tile.tma_reduce add %m[%c0, %c0] from %s[%c1, %c0, %c0] shape [64, 64] : !M from !S
    // CHECK: shfl
    %g = tile.warpgroup_id
    gpu.return
  }
}
