"""Copies to shared memory that TMA can make, and what keeps it from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit_effect
from tilec.dialects.tile.ops import AsyncCopyOp, TmaLoadOp
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import memref_of
from tilec.isa.limits import BOX_EXTENTS, MAP_ALIGNMENT, MAP_RANKS
from tilec.isa.wording import counted
from tilec.layout.swizzle import SWIZZLES

from ..analysis.memory_facts import memory_facts
from ..emit import add, add_constant, index_constant

_MOST = BOX_EXTENTS[-1]


def why_no_map(array: Value, function: Op) -> str:
    """Why no tensor map describes an array in global memory; empty if one does."""
    type_ = memref_of(array)
    size = bits_of(type_.element_type) // 8
    if not (isinstance(array.owner, ir.Block) and array.owner == function.regions[0].blocks[0]):
        return "its array is not an argument of the kernel"
    if type_.rank not in MAP_RANKS[1:]:
        return f"an array of rank {type_.rank} does not have a tensor map with rows"
    strides, _ = type_.get_strides_and_offset()
    if list(strides)[-1] != 1:
        return "elements of a row are not contiguous"
    facts = memory_facts(array)
    if facts.aligned % MAP_ALIGNMENT:
        return (
            f"its array is only known to begin at a multiple of "
            f"{counted(facts.aligned, 'byte')}, not of "
            f"{MAP_ALIGNMENT} (tile.aligned may guarantee more)"
        )
    apart = min((stride * size for stride in facts.strides[:-1]), default=MAP_ALIGNMENT)
    if apart % MAP_ALIGNMENT:
        return (
            f"its rows are only known to be a multiple of {counted(apart, 'byte')} apart, not of "
            f"{MAP_ALIGNMENT} (tile.strides may guarantee more)"
        )
    if any(stride == 0 for stride in strides):
        return "its rows repeat one"
    return ""


def why_no_box(buffer: ir.MemRefType) -> str:
    """Why boxes do not fill a buffer in shared memory; empty if they do."""
    space = buffer.memory_space
    if isinstance(space, SharedAttr) and space.swizzle.value not in SWIZZLES:
        return "scale factors are not copied by TMA, which would not put them in their order"
    return ""


class Share(NamedTuple):
    """What a CTA loads of what all of its cluster need.

    Attributes:
        ctas: of the cluster.
        rank: the CTA's.
    """

    ctas: int
    rank: Value


def load_boxes(
    copy: AsyncCopyOp,
    source: list[Value],
    buffer: Value,
    barrier: tuple[Value, Value],
    stage: Value,
    share: Share | None = None,
) -> None:
    """The loads that make a copy to a stage of a buffer, of which an mbarrier counts the bytes.

    Args:
        copy: the copy.
        source: the array, and where the tile begins in it.
        buffer: as many buffers as there are stages.
        barrier: mbarriers, and the number of the one.
        stage: the stage.
        share: the part that this CTA loads for all of its cluster, if not everything for itself.
    """
    lines, width = memref_of(buffer).shape[-2:]
    array, *at = source
    if share is None:
        boxes, mask = list(panel_boxes(copy.panels, lines, width, at)), []
    else:
        boxes = list(_part(share, copy.panels, lines, width, at))
        mask = [index_constant((1 << share.ctas) - 1)]
    for box in boxes:
        operands = [array, buffer, barrier[0], *box.origin, stage, *box.place, barrier[1], *mask]
        emit_effect(TmaLoadOp, operands, shape=box.shape)


class Box(NamedTuple):
    """A box of a tile that lies in panels.

    Attributes:
        origin: where it begins in the array.
        place: where it begins in the buffer: panel, line, element.
        shape: lines, and elements of a line.
    """

    origin: list[Value]
    place: list[Value]
    shape: ir.DenseI64ArrayAttr


def _part(share: Share, panels: int, lines: int, width: int, at: list[Value]) -> Iterator[Box]:
    """The boxes of a CTA's part: of so many panels of the tile, or lines of each."""
    *leading, row, col = at
    of_panels = panels % share.ctas == 0
    count = panels // share.ctas if of_panels else lines // share.ctas
    first = arith.muli(share.rank, index_constant(count))
    if of_panels:
        col = add(col, arith.muli(first, index_constant(width)))
        panels = count
    else:
        row, lines = add(row, first), count
    for box in panel_boxes(panels, lines, width, [*leading, row, col]):
        panel, line, element = box.place
        if of_panels:
            panel = add(first, panel)
        else:
            line = add(first, line)
        yield Box(box.origin, [panel, line, element], box.shape)


def boxes_of(buffer: Value, panels: int) -> str:
    """What a tile in panels is copied by, in words.

    Args:
        buffer: as many panels, or more.
        panels: of the tile.
    """
    lines, width = memref_of(buffer).shape[-2:]
    count = panels * -(-lines // _MOST)
    each = "a box" if count == 1 else f"{count} boxes"
    return f"{each} of {min(lines, _MOST)}x{width} elements"


def panel_boxes(panels: int, lines: int, width: int, at: list[Value]) -> Iterator[Box]:
    """The boxes that a tile at a place of an array is copied by, panel by panel.

    Args:
        panels: of the buffer.
        lines: of a panel.
        width: elements of a line.
        at: the tile's place in the array.
    """
    *leading, row, col = at
    zero = index_constant(0)
    for panel in range(panels):
        for first in range(0, lines, _MOST):
            shape = ir.DenseI64ArrayAttr.get([min(lines - first, _MOST), width])
            origin = [*leading, add_constant(row, first), add_constant(col, panel * width)]
            place = [index_constant(panel), index_constant(first), zero]
            yield Box(origin, place, shape)
