"""How layouts follow from each other across ops that change shape or element size."""

from __future__ import annotations

from tilec.dialects.tile.ops.base import RelatedOp
from tilec.ir.aliases import Op
from tilec.layout import LinearLayout
from tilec.layout.extents import unit_extents


def forward(op: Op, source: LinearLayout, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of the result that comes of its own from that of the source.

    Args:
        op: a view, a reduction, or a cast from or to elements of less than a byte.
        source: layout of its operand.
        shape: of its result.
    """
    return op.forward(source, unit_extents(shape)) if isinstance(op, RelatedOp) else source


def backward(op: Op, result: LinearLayout, shape: tuple[int, ...]) -> LinearLayout | None:
    """The layout of the source from which that of the result comes of its own.

    Args:
        op: as of `forward`.
        result: layout of its result.
        shape: of its operand.

    Returns:
        None where the result leaves it open.
    """
    return op.backward(result, unit_extents(shape)) if isinstance(op, RelatedOp) else result


def agree(op: Op, source: LinearLayout, result: LinearLayout) -> bool:
    """Whether a view, reduction or cast takes a source of one layout to a result of the other."""
    return op.agree(source, result) if isinstance(op, RelatedOp) else source == result


def leaves_open(op: Op) -> bool:
    """Whether the layout of the source says only a part of the result's."""
    return isinstance(op, RelatedOp) and not op.DECIDES_RESULT
