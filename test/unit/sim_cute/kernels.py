"""Products of matrices for Hopper in the CuTe DSL; imported only where it is, by `server.py`."""

import cutlass
from cutlass import cute, pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warp, warpgroup
from cutlass.memory import SmemAllocator
from cutlass.pipeline import Agent, CooperativeGroup, PipelineUserType, make_pipeline_state
from cutlass.tensor_utils import LayoutEnum
from cutlass.utils import hopper_helpers

TYPES = {
    "f16": cutlass.Float16,
    "bf16": cutlass.BFloat16,
    "e4m3": cutlass.Float8E4M3FN,
    "s8": cutlass.Int8,
    "f32": cutlass.Float32,
    "s32": cutlass.Int32,
}
WIDTHS = {128: "SW128", 64: "SW64", 32: "SW32", 16: "INTER"}  # bytes that a swizzle keeps in a line
WHOLE = (None, None, 0)
ALIGNMENT = 1024


def fake(type_, major):
    """A matrix of any extents: of rows that lie one after the other, or of columns that do."""
    pitch = cute.sym_int64(divisibility=128 // type_.width)
    return cute.runtime.make_fake_tensor(
        type_,
        (cute.sym_int32(), cute.sym_int32()),
        (pitch, 1) if major == "row" else (1, pitch),
        assumed_align=16,
    )


class Operand:
    """A or B: its type, and how its tiles lie in shared memory."""

    def __init__(self, type_, major, swizzle):
        self.type = TYPES[type_]
        self.major = major
        self.swizzle = swizzle

    @property
    def mode(self):
        return OperandMajorMode.K if self.major == "row" else OperandMajorMode.MN

    @property
    def array(self):
        return fake(self.type, self.major)

    def staged(self, rows, depth, stages):
        """The layout of all stages of a tile."""
        kind = f"{'K' if self.major == 'row' else 'MN'}_{WIDTHS[self.swizzle]}"
        atom = warpgroup.make_smem_layout_atom(warpgroup.SmemLayoutAtomKind[kind], self.type)
        order = (0, 1, 2) if self.major == "row" else (1, 0, 2)
        return cute.tile_to_shape(atom, (rows, depth, stages), order)


class Gemm:
    """C = A·Bᵀ: a warpgroup loads through a ring of stages, two multiply and store.

    The CTAs of a cluster, which lie one below the other, share B.
    """

    consumers = 256

    def __init__(self, tile, stages, cluster, a, b, out):
        self.tile, self.stages, self.cluster = tuple(tile), stages, cluster
        self.a, self.b, self.out = Operand(**a), Operand(**b), TYPES[out]
        self.sum = cutlass.Int32 if self.a.type is cutlass.Int8 else cutlass.Float32
        self.threads = self.consumers + 128
        m, n, k = self.tile
        self.stage = (m * self.a.type.width + n * self.b.type.width) * k // 8
        self.shared = ALIGNMENT + stages * self.stage + m * n * self.out.width // 8

    @property
    def arguments(self):
        return self.a.array, self.b.array, fake(self.out, "row")

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        m, n, k = self.tile
        product = hopper_helpers.make_trivial_tiled_mma(
            self.a.type, self.b.type, self.a.mode, self.b.mode, self.sum, (2, 1, 1), (64, n)
        )
        a_lies = self.a.staged(m, k, self.stages)
        b_lies = self.b.staged(n, k, self.stages)
        c_lies = hopper_helpers.make_smem_layout_epi(self.out, LayoutEnum.ROW_MAJOR, (m, n), 1)
        load = cpasync.CopyBulkTensorTileG2SOp()
        shared_load = load
        if cutlass.const_expr(self.cluster > 1):
            shared_load = cpasync.CopyBulkTensorTileG2SMulticastOp()
        a_copy, a = cpasync.make_tiled_tma_atom(load, a, cute.slice_(a_lies, WHOLE), (m, k))
        b_copy, b = cpasync.make_tiled_tma_atom(
            shared_load, b, cute.slice_(b_lies, WHOLE), (n, k), num_multicast=self.cluster
        )
        store = cpasync.CopyBulkTensorTileS2GOp()
        c_copy, c_map = cpasync.make_tiled_tma_atom(store, c, cute.slice_(c_lies, WHOLE), (m, n))
        self.kernel(product, a_copy, a, b_copy, b, c_copy, c_map, a_lies, b_lies, c_lies).launch(
            grid=(cute.ceil_div(c.shape[0], m), cute.ceil_div(c.shape[1], n), 1),
            block=(self.threads, 1, 1),
            cluster=(self.cluster, 1, 1),
        )

    @cute.kernel
    def kernel(
        self,
        product: cute.TiledMma,
        a_copy: cute.CopyAtom,
        a: cute.Tensor,
        b_copy: cute.CopyAtom,
        b: cute.Tensor,
        c_copy: cute.CopyAtom,
        c: cute.Tensor,
        a_lies: cute.ComposedLayout,
        b_lies: cute.ComposedLayout,
        c_lies: cute.ComposedLayout,
    ):
        m, n, k = self.tile
        thread, _, _ = cute.arch.thread_idx()
        row, col, _ = cute.arch.block_idx()
        group = cute.arch.make_warp_uniform(thread // 128)
        warp_id = cute.arch.make_warp_uniform(thread // 32)
        rank = cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster())

        memory = SmemAllocator()
        barriers = memory.allocate_array(cutlass.Int64, 2 * self.stages)
        a_tile = memory.allocate_tensor(self.a.type, a_lies.outer, ALIGNMENT, a_lies.inner)
        b_tile = memory.allocate_tensor(self.b.type, b_lies.outer, ALIGNMENT, b_lies.inner)
        c_tiles = memory.allocate_tensor(self.out, c_lies.outer, ALIGNMENT, c_lies.inner)
        c_tile = cute.slice_(c_tiles, WHOLE)
        ring = pipeline.PipelineTmaAsync.create(
            num_stages=self.stages,
            producer_group=CooperativeGroup(Agent.Thread),
            consumer_group=CooperativeGroup(Agent.Thread, self.cluster * self.consumers // 32),
            tx_count=self.stage,
            barrier_storage=barriers,
            cta_layout_vmnk=cute.make_layout((1, self.cluster, 1, 1)),
            mcast_mode_mn=(0, 1),
        )
        a_from = cute.local_tile(a, (m, k), (row, None))
        b_from = cute.local_tile(b, (n, k), (col, None))
        a_to, a_from = cpasync.tma_partition(
            a_copy, 0, cute.make_layout(1),
            cute.group_modes(a_tile, 0, 2), cute.group_modes(a_from, 0, 2),
        )  # fmt: skip
        b_to, b_from = cpasync.tma_partition(
            b_copy, rank, cute.make_layout(self.cluster),
            cute.group_modes(b_tile, 0, 2), cute.group_modes(b_from, 0, 2),
        )  # fmt: skip
        steps = cute.size(a_from, mode=[1])

        if group == self.consumers // 128:
            cute.arch.setmaxregister_decrease(40)
            if warp_id == self.consumers // 32:
                for copy in (a_copy, b_copy, c_copy):
                    cpasync.prefetch_descriptor(copy)
                at = make_pipeline_state(PipelineUserType.Producer, self.stages)
                for step in cutlass.range(steps, unroll=1):
                    ring.producer_acquire(at)
                    full = ring.producer_get_barrier(at)
                    from_, to = a_from[(None, step)], a_to[(None, at.index)]
                    cute.copy(a_copy, from_, to, tma_bar_ptr=full)
                    from_, to = b_from[(None, step)], b_to[(None, at.index)]
                    if cutlass.const_expr(self.cluster > 1):
                        everybody = cutlass.Int16((1 << self.cluster) - 1)
                        cute.copy(b_copy, from_, to, tma_bar_ptr=full, mcast_mask=everybody)
                    else:
                        cute.copy(b_copy, from_, to, tma_bar_ptr=full)
                    at.advance()
                ring.producer_tail(at)
        else:
            cute.arch.setmaxregister_increase(232)
            mine = product.get_slice(group * 128)
            a_operand = product.make_fragment_A(mine.partition_A(a_tile))
            b_operand = product.make_fragment_B(mine.partition_B(b_tile))
            total = cute.make_rmem_tensor(product.partition_shape_C((m, n)), self.sum)
            product.set(warpgroup.Field.ACCUMULATE, False)
            at = make_pipeline_state(PipelineUserType.Consumer, self.stages)
            for _ in cutlass.range(steps, unroll=1):
                ring.consumer_wait(at)
                warpgroup.fence()
                for part in cutlass.range_constexpr(cute.size(a_operand, mode=[2])):
                    of = (None, None, part, at.index)
                    cute.gemm(product, total, a_operand[of], b_operand[of], total)
                    product.set(warpgroup.Field.ACCUMULATE, True)
                warpgroup.commit_group()
                warpgroup.wait_group(0)
                ring.consumer_release(at)
                at.advance()
            result = cute.make_rmem_tensor_like(total, self.out)
            result.store(total.load().to(self.out))
            move = hopper_helpers.get_smem_store_op(LayoutEnum.ROW_MAJOR, self.out, self.sum)
            to_shared = cute.make_tiled_copy_C(move, product)
            place = to_shared.get_slice(thread).partition_D(c_tile)
            cute.copy(to_shared, to_shared.retile(result), place)
            cute.arch.fence_proxy("async.shared", space="cta")
            cute.arch.barrier(barrier_id=1, number_of_threads=self.consumers)
            c_from, c_to = cpasync.tma_partition(
                c_copy, 0, cute.make_layout(1), cute.group_modes(c_tile, 0, 2),
                cute.group_modes(cute.local_tile(c, (m, n), (row, col)), 0, 2),
            )  # fmt: skip
            if warp_id == 0:
                with cute.arch.elect_one():  # the DSL elects a thread for loads, not for stores
                    cute.copy(c_copy, c_from, c_to)
                    cute.arch.cp_async_bulk_commit_group()
                    cute.arch.cp_async_bulk_wait_group(0, read=True)


class Plain:
    """C = A·Bᵀ by one warpgroup: B by tensor copies, A from registers, C stored by its threads."""

    threads = 128

    def __init__(self, tile, a, b):
        self.tile = tuple(tile)
        self.a, self.b = Operand(**a), Operand(**b)
        m, n, k = self.tile
        self.stage = (m * self.a.type.width + n * self.b.type.width) * k // 8
        self.shared = ALIGNMENT + self.stage

    @property
    def arguments(self):
        return self.a.array, self.b.array, fake(cutlass.Float32, "row")

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
        m, n, k = self.tile
        product = hopper_helpers.make_trivial_tiled_mma(
            self.a.type, self.b.type, self.a.mode, self.b.mode, cutlass.Float32, (1, 1, 1), (64, n),
            a_source=warpgroup.OperandSource.RMEM,
        )  # fmt: skip
        a_lies, b_lies = self.a.staged(m, k, 1), self.b.staged(n, k, 1)
        load = cpasync.CopyBulkTensorTileG2SOp()
        a_copy, a = cpasync.make_tiled_tma_atom(load, a, cute.slice_(a_lies, WHOLE), (m, k))
        b_copy, b = cpasync.make_tiled_tma_atom(load, b, cute.slice_(b_lies, WHOLE), (n, k))
        self.kernel(product, a_copy, a, b_copy, b, c, a_lies, b_lies).launch(
            grid=(cute.ceil_div(c.shape[0], m), cute.ceil_div(c.shape[1], n), 1),
            block=(self.threads, 1, 1),
        )

    @cute.kernel
    def kernel(
        self,
        product: cute.TiledMma,
        a_copy: cute.CopyAtom,
        a: cute.Tensor,
        b_copy: cute.CopyAtom,
        b: cute.Tensor,
        c: cute.Tensor,
        a_lies: cute.ComposedLayout,
        b_lies: cute.ComposedLayout,
    ):
        m, n, k = self.tile
        thread, _, _ = cute.arch.thread_idx()
        row, col, _ = cute.arch.block_idx()
        warp_id = cute.arch.make_warp_uniform(thread // 32)
        memory = SmemAllocator()
        full = memory.allocate_array(cutlass.Int64, 1)
        a_tiles = memory.allocate_tensor(self.a.type, a_lies.outer, ALIGNMENT, a_lies.inner)
        b_tiles = memory.allocate_tensor(self.b.type, b_lies.outer, ALIGNMENT, b_lies.inner)
        a_tile = cute.slice_(a_tiles, WHOLE)
        if thread == 0:
            cute.arch.mbarrier_init(full, 1)
            cute.arch.mbarrier_init_fence()
        cute.arch.barrier()
        a_to, a_from = cpasync.tma_partition(
            a_copy, 0, cute.make_layout(1), cute.group_modes(a_tile, 0, 2),
            cute.group_modes(cute.local_tile(a, (m, k), (row, None)), 0, 2),
        )  # fmt: skip
        b_to, b_from = cpasync.tma_partition(
            b_copy, 0, cute.make_layout(1), cute.group_modes(cute.slice_(b_tiles, WHOLE), 0, 2),
            cute.group_modes(cute.local_tile(b, (n, k), (col, None)), 0, 2),
        )  # fmt: skip
        mine = product.get_slice(thread)
        a_operand = product.make_fragment_A(mine.partition_A(a_tile))
        b_operand = product.make_fragment_B(mine.partition_B(b_tiles))
        total = cute.make_rmem_tensor(product.partition_shape_C((m, n)), cutlass.Float32)
        total.fill(0.0)
        product.set(warpgroup.Field.ACCUMULATE, True)
        from_shared = cute.make_tiled_copy_A(
            cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), self.a.type), product
        )
        a_part = from_shared.get_slice(thread)
        for step in cutlass.range(cute.size(a_from, mode=[1]), unroll=1):
            if warp_id == 0:
                with cute.arch.elect_one():
                    cute.arch.mbarrier_arrive_and_expect_tx(full, self.stage)
                cute.copy(a_copy, a_from[(None, step)], a_to, tma_bar_ptr=full)
                cute.copy(b_copy, b_from[(None, step)], b_to, tma_bar_ptr=full)
            cute.arch.mbarrier_wait(full, step % 2)
            cute.copy(from_shared, a_part.partition_S(a_tile), a_part.retile(a_operand))
            warpgroup.fence()
            for part in cutlass.range_constexpr(cute.size(a_operand, mode=[2])):
                cute.gemm(
                    product, total, a_operand[(None, None, part)],
                    b_operand[(None, None, part, 0)], total,
                )  # fmt: skip
            warpgroup.commit_group()
            warpgroup.wait_group(0)
            cute.arch.barrier()
        at = mine.partition_C(cute.make_identity_tensor((m, n)))
        for i in cutlass.range_constexpr(cute.size(total)):
            r, s = row * m + at[i][0], col * n + at[i][1]
            if r < c.shape[0] and s < c.shape[1]:
                c[r, s] = total[i]


KERNELS = {"gemm": Gemm, "plain": Plain}
