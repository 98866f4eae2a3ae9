"""`tile-stage-shared`: operands of matrix products come through shared memory."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import LoadOp
from tilec.dialects.tile.shared import SharedBuffer, shared_buffer
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.isa import LANES
from tilec.isa.lazy import cached_property
from tilec.isa.wording import counted

from .analysis.effects import Writers
from .analysis.places import outermost_loop
from .analysis.shared_space import SharedSpace, aligned
from .emit import index_constant
from .fragments.fragment_types import FragmentTypes
from .kernel_pass import Kernel, KernelPass
from .staging.copy_frame import copy_frame, copy_of, new_buffer
from .staging.operand_loads import operand_loads
from .staging.staging_groups import StagingGroup, grouped
from .staging.staging_swizzle import Reader, Staging, staging
from .staging.staging_vectors import copy_vector, memory_shape


class StageShared(KernelPass):
    """Route loads from global memory that feed matrix products through shared memory.

    In and out: level 2, kernels that are `tile.automatic`; hand-written layouts keep their
    loads. A `tile.load` whose tile becomes a factor of a product, possibly after casts and
    elementwise ops, becomes a buffer, a `tile.async_copy`, its wait and barrier, and a load
    from the buffer before the first use. So does a load of metadata or scales, if its alignment
    allows `cp.async`. Each element is then read from global memory once per CTA. The buffer's
    swizzle avoids bank conflicts of copies and loads. Each load gets a `form`, the matrix
    instruction that it uses, or one that says none. Copies that can begin together share one
    wait. Loads that do not fit into shared memory, and loads with the attribute `tile.direct`,
    do not change.
    """

    name: ClassVar[str] = "tile-stage-shared"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        loads = operand_loads(kernel.function, kernel.target) if kernel.is_automatic else []
        stage = _Stage(kernel)
        for group in list(grouped(loads, Writers(kernel.function))):
            with kernel.at(group.first):
                stage.group(group)


class _Staged(NamedTuple):
    """Loads of one place in memory, and how they are staged.

    Attributes:
        loads: the loads from global memory.
        buffer: what they are staged in.
        vector: elements that a thread copies at once.
        forms: of each load, the matrix instruction that its tile is loaded from the buffer by.
    """

    loads: list[LoadOp]
    buffer: Value
    vector: int
    forms: tuple[str, ...]


class _Stage:
    """The rewriting of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._function = kernel.function
        self._target = kernel.target
        self._space: SharedSpace
        self._left = 0

    @cached_property
    def _types(self) -> FragmentTypes:
        return FragmentTypes(self._function)

    @cached_property
    def _warps(self) -> int:
        return self._kernel.threads // LANES

    def group(self, group: StagingGroup) -> None:
        """Stage the loads of a group, those of the same memory from one buffer."""
        self._space = SharedSpace(self._function, self._target)
        self._left = self._space.left(*_needing(group.first))
        found = [self._staged(loads) for loads in group.by_memory()]
        staged = [one for one in found if one is not None]
        if not staged:
            return
        group.hoist([load for one in staged for load in one.loads])
        with ir.InsertionPoint(group.first):
            zero = index_constant(0)

            def copies() -> None:
                for one in staged:
                    extents = memory_shape(one.loads[0])
                    copy_of(one.loads[0], one.buffer, extents, one.vector, zero)

            copy_frame(group.first, copies)
        for one in staged:
            for load, form in zip(one.loads, one.forms, strict=True):
                _reload(load, one.buffer, form, zero)

    def _staged(self, loads: list[LoadOp]) -> _Staged | None:
        """How loads of one place in memory are staged; None if there is no room for a buffer."""
        load = loads[0]
        element = ir.MemRefType(load.memref.type).element_type
        readers = [self._reader(op) for op in loads]
        rows, cols = memory_shape(load)
        bits = bits_of(element)
        vector = copy_vector(load, self._target)
        chosen = staging((rows, cols), bits, vector, self._warps, readers, self._target)
        space = SharedAttr.get(ir.StringAttr.get(chosen.text))
        type_ = ir.MemRefType.get([rows, cols], element, memory_space=space)
        size = shared_buffer(type_).bytes
        if size > self._left:
            self._kernel.missed(
                load,
                f"stays in global memory: its tile takes {counted(size, 'byte')} of shared memory, "
                "and "
                f"{self._left} are left of {self._space.limit}; a smaller tile fits",
            )
            return None
        self._left -= aligned(size)
        _explain(self._kernel, load, shared_buffer(type_), vector, chosen)
        buffer = new_buffer(self._function, load, type_)
        return _Staged(loads, buffer, vector, chosen.forms)

    def _reader(self, load: LoadOp) -> Reader:
        tile = tile_value(load.results[0].type)
        assert tile is not None
        return Reader(tile, self._types.parts(tile), "transposed" in load.attributes)


def _needing(first: LoadOp) -> list[ir.Operation]:
    """The ops while which what begins at `first` may be needed."""
    loop = outermost_loop(first)
    if loop is not None:
        return [loop]
    ops = [op.operation for op in first.operation.block.operations]
    return ops[ops.index(first.operation) :]


def _reload(load: LoadOp, buffer: Value, form: str, zero: Value) -> None:
    """Load the tile from the buffer, before its first use."""
    uses = [_above(use.owner, load.operation.block) for use in load.results[0].uses]
    attributes = load.attributes
    kept = {"transposed": attributes["transposed"]} if "transposed" in attributes else {}
    kept["form"] = ir.StringAttr.get(form)
    order = [op.operation for op in load.operation.block.operations]
    first = min(uses, key=order.index, default=load.operation)
    with ir.InsertionPoint(first), load.location:
        loaded = emit(LoadOp, [buffer, zero, zero], load.tile.type, **kept)
    load.results[0].replace_all_uses_with(loaded)
    load.operation.erase()


def _above(op: Op, block: ir.Block) -> ir.Operation:
    """The op of `block` that is `op` or holds it."""
    operation = op.operation
    while operation.block != block:
        parent = operation.parent
        assert parent is not None
        operation = parent.operation
    return operation


def _explain(
    kernel: Kernel, load: LoadOp, buffer: SharedBuffer, vector: int, chosen: Staging
) -> None:
    counts = chosen.found.counts
    conflicts = chosen.found.conflicts
    kernel.remark(
        load,
        f"goes through {counted(buffer.bytes, 'byte')} of shared memory, swizzled as "
        f"{chosen.text}: copied {counted(vector * buffer.element_bytes, 'byte')} at a time, "
        f"loaded by "
        f"{', '.join(chosen.instructions)}; "
        f"{counted(sum(c.wavefronts for c in counts), 'wavefront')} per warp, "
        f"{conflicts or 'none'} of them for bank conflicts",
    )
