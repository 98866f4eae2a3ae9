"""`tile-stage-reductions`: reductions over warps, spelled out."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import ConvertLayoutOp, ReduceOp, ReshapeOp, TransposeOp
from tilec.dialects.tile.tiles import TileValue, bits_of, tensor_type, tile_value
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.views import drop_dim, reshape, transpose

from .kernel_pass import Kernel, KernelPass
from .layouts.reduction_choice import Split, gathering


class StageReductions(KernelPass):
    """Split a `tile.reduce` over warps into reductions within a warp.

    In and out: level 2. Each warp combines its part of the dimension. A `tile.convert_layout`
    collects the parts, after which each thread has those of all warps in registers and combines
    them. If a warp's part does not correspond to whole bits of a dimension's index, the
    conversion comes first. Other reductions do not change.
    """

    name: ClassVar[str] = "tile-stage-reductions"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for op in kernel.named(ReduceOp):
            with kernel.at(op):
                _stage(op, kernel)


def _stage(op: ReduceOp, kernel: Kernel) -> None:
    source = tile_value(op.source.type)
    if source is None or source.is_fragment:
        return
    plan = gathering(source.layout, op.axis.value)
    if plan is None:
        return
    with ir.InsertionPoint(op):
        steps = _Steps(op, source.element)
        if plan.own is not None:
            steps.reduce_own(plan.axis, plan.own)
        moved = prod(steps.shape) * bits_of(source.element) // 8
        steps.gather(plan.after)
        result = steps.reduce(plan.axis, op.result.type)
    kernel.remark(
        op,
        f"is over {counted(plan.partials, 'warp')}: {moved} bytes go through shared memory, "
        + (
            "after each warp has combined its part"
            if plan.combines
            else f"all of it, since the warps share no whole bits of dimension {plan.axis}'s index"
        ),
    )
    op.result.replace_all_uses_with(result)
    op.operation.erase()


class _Steps:
    """What replaces a reduction, emitted one after the other.

    Args:
        op: the reduction.
        element: its element type.
    """

    def __init__(self, op: ReduceOp, element: Type) -> None:
        self._op = op
        self._element = element
        self._value: Value = op.source

    def reduce_own(self, axis: int, split: Split) -> None:
        """Combine the bits of the axis that a warp has, which leaves one element a warp."""
        self._reshape(split.parts)
        self._transpose(split.order)
        self._reshape(split.merged)
        layout = drop_dim(self._layout, axis + 1)
        self._value = self.reduce(axis + 1, self._type(layout))

    def gather(self, layout: LinearLayout) -> None:
        """Bring what is left of the axis into the registers of those who want the result."""
        self._value = emit(ConvertLayoutOp, [self._value], self._type(layout))

    def reduce(self, axis: int, type_: Type) -> Value:
        """The value reduced along one dimension."""
        fn = self._op.attributes["fn"]
        return emit(ReduceOp, [self._value], type_, axis=i64(axis), fn=fn)

    def _reshape(self, shape: tuple[int, ...]) -> None:
        if shape != self.shape:
            type_ = self._type(reshape(self._layout, shape))
            self._value = emit(ReshapeOp, [self._value], type_)

    def _transpose(self, permutation: tuple[int, ...]) -> None:
        if list(permutation) != sorted(permutation):
            type_ = self._type(transpose(self._layout, permutation))
            attribute = ir.DenseI64ArrayAttr.get(permutation)
            self._value = emit(TransposeOp, [self._value], type_, permutation=attribute)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is left so far."""
        return self._tile.shape

    @property
    def _layout(self) -> LinearLayout:
        return self._tile.layout

    @property
    def _tile(self) -> TileValue:
        tile = tile_value(self._value.type)
        assert tile is not None
        return tile

    def _type(self, layout: LinearLayout) -> Type:
        return tensor_type(tuple(layout.out_sizes.values()), self._element, layout)
