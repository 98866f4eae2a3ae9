"""Attention for Hopper in the CuTe DSL: a block's first product beside the second of the last."""

import cutlass
from cutlass import cute, pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, warpgroup
from cutlass.memory import SmemAllocator
from cutlass.pipeline import Agent, CooperativeGroup, PipelineUserType, make_pipeline_state
from cutlass.tensor_utils import LayoutEnum
from cutlass.utils import hopper_helpers
from kernels import ALIGNMENT, WHOLE, Operand

HALF = cutlass.Float16
ROWS = 2
"""Rows of an accumulator that a thread has."""


def fake(rows):
    """Heads of so many rows of f16, or of columns: extents and pitches are the launch's."""
    pitches = [cute.sym_int64(divisibility=8) for _ in range(2)]
    extents = [cute.sym_int32() for _ in range(3)]
    strides = (pitches[0], 1, pitches[1]) if rows else (1, pitches[0], pitches[1])
    return cute.runtime.make_fake_tensor(HALF, tuple(extents), strides, assumed_align=16)


class Attention:
    """O = softmax2(scale · Q·Kᵀ)·V, of blocks of keys that are whole, powers being those of 2.

    A warpgroup loads blocks of K and V through rings, two multiply 64 queries each. Q, K and O are
    rows of a head; V is given as columns, whose elements lie beside those of the next column.
    """

    consumers = 256

    def __init__(self, queries, keys, depth, stages):
        self.queries, self.keys, self.depth, self.stages = queries, keys, depth, stages
        self.threads = self.consumers + 128
        self.q_bytes, self.block = queries * depth * 2, keys * depth * 2
        self.shared = ALIGNMENT + self.q_bytes + 2 * stages * self.block

    @property
    def arguments(self):
        return fake(True), fake(True), fake(False), fake(True), cutlass.Float32(1.0)

    @cute.jit
    def __call__(
        self,
        q: cute.Tensor,
        k: cute.Tensor,
        v: cute.Tensor,
        o: cute.Tensor,
        scale: cutlass.Float32,
    ):
        rows, keys, depth = self.queries, self.keys, self.depth
        row, col = Operand("f16", "row", 128), Operand("f16", "col", 128)
        fresh, scores = (
            hopper_helpers.make_trivial_tiled_mma(
                HALF, HALF, OperandMajorMode.K, OperandMajorMode.K, cutlass.Float32, (2, 1, 1),
                (64, keys),
            )
            for _ in range(2)
        )  # fmt: skip
        values = hopper_helpers.make_trivial_tiled_mma(
            HALF, HALF, OperandMajorMode.K, OperandMajorMode.MN, cutlass.Float32, (2, 1, 1),
            (64, depth), a_source=warpgroup.OperandSource.RMEM,
        )  # fmt: skip
        q_lies, k_lies = row.staged(rows, depth, 1), row.staged(keys, depth, self.stages)
        v_lies = col.staged(depth, keys, self.stages)
        load, store = cpasync.CopyBulkTensorTileG2SOp(), cpasync.CopyBulkTensorTileS2GOp()
        q_one, k_one, v_one = (cute.slice_(lies, WHOLE) for lies in (q_lies, k_lies, v_lies))
        q_copy, q_map = cpasync.make_tiled_tma_atom(load, q, q_one, (rows, depth))
        k_copy, k_map = cpasync.make_tiled_tma_atom(load, k, k_one, (keys, depth))
        v_copy, v_map = cpasync.make_tiled_tma_atom(load, v, v_one, (depth, keys))
        o_copy, o_map = cpasync.make_tiled_tma_atom(store, o, q_one, (rows, depth))
        self.kernel(
            fresh, scores, values, q_copy, q_map, k_copy, k_map, v_copy, v_map, o_copy, o_map,
            q_lies, k_lies, v_lies, scale,
        ).launch(
            grid=(cute.ceil_div(q.shape[0], rows), q.shape[2], 1), block=(self.threads, 1, 1)
        )  # fmt: skip

    @cute.kernel
    def kernel(
        self,
        fresh: cute.TiledMma,
        scores: cute.TiledMma,
        values: cute.TiledMma,
        q_copy: cute.CopyAtom,
        q: cute.Tensor,
        k_copy: cute.CopyAtom,
        k: cute.Tensor,
        v_copy: cute.CopyAtom,
        v: cute.Tensor,
        o_copy: cute.CopyAtom,
        o: cute.Tensor,
        q_lies: cute.ComposedLayout,
        k_lies: cute.ComposedLayout,
        v_lies: cute.ComposedLayout,
        scale: cutlass.Float32,
    ):
        rows, keys, depth = self.queries, self.keys, self.depth
        thread, _, _ = cute.arch.thread_idx()
        block, head, _ = cute.arch.block_idx()
        group = cute.arch.make_warp_uniform(thread // 128)
        warp_id = cute.arch.make_warp_uniform(thread // 32)

        memory = SmemAllocator()
        q_full = memory.allocate_array(cutlass.Int64, 1)
        k_barriers = memory.allocate_array(cutlass.Int64, 2 * self.stages)
        v_barriers = memory.allocate_array(cutlass.Int64, 2 * self.stages)
        q_tiles = memory.allocate_tensor(HALF, q_lies.outer, ALIGNMENT, q_lies.inner)
        k_tiles = memory.allocate_tensor(HALF, k_lies.outer, ALIGNMENT, k_lies.inner)
        v_tiles = memory.allocate_tensor(HALF, v_lies.outer, ALIGNMENT, v_lies.inner)
        q_tile = cute.slice_(q_tiles, WHOLE)
        if thread == 0:
            cute.arch.mbarrier_init(q_full, 1)
            cute.arch.mbarrier_init_fence()
        k_ring = self.ring(k_barriers)
        v_ring = self.ring(v_barriers)
        cute.arch.barrier()
        alone = cute.make_layout(1)
        q_to, q_from = cpasync.tma_partition(
            q_copy, 0, alone, cute.group_modes(q_tile, 0, 2),
            cute.group_modes(cute.local_tile(q, (rows, depth), (block, 0, head)), 0, 2),
        )  # fmt: skip
        k_to, k_from = cpasync.tma_partition(
            k_copy, 0, alone, cute.group_modes(k_tiles, 0, 2),
            cute.group_modes(cute.local_tile(k, (keys, depth), (None, 0, head)), 0, 2),
        )  # fmt: skip
        v_to, v_from = cpasync.tma_partition(
            v_copy, 0, alone, cute.group_modes(v_tiles, 0, 2),
            cute.group_modes(cute.local_tile(v, (depth, keys), (0, None, head)), 0, 2),
        )  # fmt: skip
        steps = cute.size(k_from, mode=[1])

        if group == self.consumers // 128:
            cute.arch.setmaxregister_decrease(40)
            if warp_id == self.consumers // 32:
                with cute.arch.elect_one():
                    cute.arch.mbarrier_arrive_and_expect_tx(q_full, self.q_bytes)
                cute.copy(q_copy, q_from, q_to, tma_bar_ptr=q_full)
                at = make_pipeline_state(PipelineUserType.Producer, self.stages)
                for step in cutlass.range(steps, unroll=1):
                    k_ring.producer_acquire(at)
                    full = k_ring.producer_get_barrier(at)
                    cute.copy(
                        k_copy, k_from[(None, step)], k_to[(None, at.index)], tma_bar_ptr=full
                    )
                    v_ring.producer_acquire(at)
                    full = v_ring.producer_get_barrier(at)
                    cute.copy(
                        v_copy, v_from[(None, step)], v_to[(None, at.index)], tma_bar_ptr=full
                    )
                    at.advance()
                k_ring.producer_tail(at.clone())
                v_ring.producer_tail(at)
        else:
            cute.arch.setmaxregister_increase(232)
            mine = scores.get_slice(group * 128)
            q_operand = scores.make_fragment_A(mine.partition_A(q_tiles))
            k_operand = scores.make_fragment_B(mine.partition_B(k_tiles))
            v_operand = values.make_fragment_B(values.get_slice(group * 128).partition_B(v_tiles))
            score = cute.make_rmem_tensor(scores.partition_shape_C((rows, keys)), cutlass.Float32)
            result = cute.make_rmem_tensor(values.partition_shape_C((rows, depth)), cutlass.Float32)
            power = cute.make_rmem_tensor(values.partition_shape_A((rows, keys)), HALF)
            most = cute.make_rmem_tensor(cute.make_layout(ROWS), cutlass.Float32)
            total = cute.make_rmem_tensor(cute.make_layout(ROWS), cutlass.Float32)
            factor = cute.make_rmem_tensor(cute.make_layout(ROWS), cutlass.Float32)
            most.fill(-cutlass.Float32.inf)
            total.fill(0.0)
            result.fill(0.0)
            fresh.set(warpgroup.Field.ACCUMULATE, False)
            scores.set(warpgroup.Field.ACCUMULATE, True)
            values.set(warpgroup.Field.ACCUMULATE, True)
            cute.arch.mbarrier_wait(q_full, 0)
            at = make_pipeline_state(PipelineUserType.Consumer, self.stages)
            before = make_pipeline_state(PipelineUserType.Consumer, self.stages)

            k_ring.consumer_wait(at)
            warpgroup.fence()
            self.begin(fresh, scores, score, q_operand, k_operand, at)
            warpgroup.wait_group(0)
            k_ring.consumer_release(at)
            self.soften(score, power, most, total, factor, scale)
            at.advance()
            for _ in cutlass.range(steps - 1, unroll=1):
                k_ring.consumer_wait(at)
                warpgroup.fence()
                self.begin(fresh, scores, score, q_operand, k_operand, at)
                v_ring.consumer_wait(before)
                warpgroup.fence()
                self.begin(values, values, result, power, v_operand, before)
                warpgroup.wait_group(1)
                k_ring.consumer_release(at)
                self.weigh(score, most, total, factor, scale)
                warpgroup.wait_group(0)
                v_ring.consumer_release(before)
                self.halve(score, power)
                self.rescale(result, factor)
                at.advance()
                before.advance()
            v_ring.consumer_wait(before)
            warpgroup.fence()
            self.begin(values, values, result, power, v_operand, before)
            warpgroup.wait_group(0)
            v_ring.consumer_release(before)

            for row in cutlass.range_constexpr(ROWS):
                whole = total[row]
                for offset in (1, 2):
                    whole += cute.arch.shuffle_sync_bfly(whole, offset=offset)
                factor[row] = cute.arch.rcp_approx(whole)
            self.rescale(result, factor)
            halves = cute.make_rmem_tensor_like(result, HALF)
            halves.store(result.load().to(HALF))
            move = hopper_helpers.get_smem_store_op(LayoutEnum.ROW_MAJOR, HALF, cutlass.Float32)
            to_shared = cute.make_tiled_copy_C(move, values)
            place = to_shared.get_slice(thread).partition_D(q_tile)
            cute.arch.barrier(barrier_id=1, number_of_threads=self.consumers)
            cute.copy(to_shared, to_shared.retile(halves), place)
            cute.arch.fence_proxy("async.shared", space="cta")
            cute.arch.barrier(barrier_id=1, number_of_threads=self.consumers)
            o_from, o_to = cpasync.tma_partition(
                o_copy, 0, alone, cute.group_modes(q_tile, 0, 2),
                cute.group_modes(cute.local_tile(o, (rows, depth), (block, 0, head)), 0, 2),
            )  # fmt: skip
            if warp_id == 0:
                with cute.arch.elect_one():
                    cute.copy(o_copy, o_from, o_to)
                    cute.arch.cp_async_bulk_commit_group()
                    cute.arch.cp_async_bulk_wait_group(0, read=True)

    def ring(self, barriers):
        """A ring of the blocks of K, or of V."""
        return pipeline.PipelineTmaAsync.create(
            num_stages=self.stages,
            producer_group=CooperativeGroup(Agent.Thread),
            consumer_group=CooperativeGroup(Agent.Thread, self.consumers // 32),
            tx_count=self.block,
            barrier_storage=barriers,
            cta_layout_vmnk=cute.make_layout((1, 1, 1, 1)),
        )

    def begin(self, first, others, total, a, b, at):
        """A product of a stage of a ring, in flight; the instructions from the second on add."""
        for part in range(cute.size(b, mode=[2])):
            of = (None, None, part) if cute.rank(a) == 3 else (None, None, part, 0)
            product = others if part else first
            cute.gemm(product, total, a[of], b[(None, None, part, at.index)], total)
        warpgroup.commit_group()

    @cute.jit
    def soften(self, score, power, most, total, factor, scale):
        self.weigh(score, most, total, factor, scale)
        self.halve(score, power)

    @cute.jit
    def weigh(self, score, most, total, factor, scale):
        """Powers instead of scores; their sums, and by what is multiplied what there was."""
        by_rows = self.by_rows(score)
        for row in cutlass.range_constexpr(ROWS):
            own = by_rows[(row, None)]
            numbers = own.load()
            largest = numbers.reduce(cute.ReductionOp.MAX, most[row], 0)
            for offset in (1, 2):
                largest = cute.arch.fmax(
                    largest, cute.arch.shuffle_sync_bfly(largest, offset=offset)
                )
            shift = largest * scale
            powers = cute.math.exp2(numbers * scale - shift, fastmath=True)
            factor[row] = cute.math.exp2(most[row] * scale - shift, fastmath=True)
            total[row] = total[row] * factor[row] + powers.reduce(cute.ReductionOp.ADD, 0.0, 0)
            most[row] = largest
            own.store(powers)

    @cute.jit
    def halve(self, score, power):
        """A of the second product: the same elements in the same order, in f16."""
        cute.make_tensor(power.iterator, score.layout).store(score.load().to(HALF))

    @cute.jit
    def rescale(self, result, factor):
        by_rows = self.by_rows(result)
        for row in cutlass.range_constexpr(ROWS):
            own = by_rows[(row, None)]
            own.store(own.load() * factor[row])

    def by_rows(self, sums):
        """A thread's registers of an accumulator by its two rows, of each two columns of eight."""
        count = cute.size(sums) // 4
        return cute.make_tensor(
            sums.iterator, cute.make_layout((ROWS, (2, count)), stride=(2, (1, 4)))
        )
