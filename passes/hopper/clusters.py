"""CTAs of a cluster that load for each other what they all read."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.semantics import Place, place_of
from tilec.dialects.tile.attributes import CTA_CLUSTER, GRID_EXTENTS, PERSISTENT
from tilec.dialects.tile.ops import AllocSharedOp, AsyncCopyOp
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import cluster_size, given_attribute
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import gpu, ir, scf
from tilec.ir.types import memref_of
from tilec.isa import Target, TilecError
from tilec.isa.limits import CLUSTERS_SINCE, PORTABLE_CLUSTER

from ..analysis.costs import CLUSTER_CTAS
from ..kernel_pass import Kernel
from ..search import defining_op

LINES = 8
"""Lines of a panel after which its swizzle repeats: parts of one are multiples of so many."""
_AXES = "xyz"
_PREFERRED = (1, 0, 2)
"""Axes, of which the first with as much to share is taken: along z many grids have one CTA."""
_OF_PANELS = 3
"""The rank of a buffer of panels: these, their lines, elements of a line."""


class Cluster(NamedTuple):
    """CTAs that are neighbours along an axis of the grid.

    Attributes:
        axis: 0 to 2.
        size: how many, two or more.
    """

    axis: int
    size: int

    @property
    def extents(self) -> list[int]:
        """Along x, y and z."""
        return [self.size if axis == self.axis else 1 for axis in range(len(_AXES))]

    def __str__(self) -> str:
        return f"{self.size} neighbours along {_AXES[self.axis]}"


def given_cluster(function: Op) -> Cluster | None:
    """The cluster that `tile.cluster` of a kernel says; None where it says none, or of one CTA.

    Raises:
        TilecError: if it is not as it must be.
    """
    if CTA_CLUSTER not in function.attributes:
        return None
    given = given_attribute(function, CTA_CLUSTER, ir.DenseI64ArrayAttr)
    extents = [] if given is None else list(given)
    more = [axis for axis, count in enumerate(extents) if count != 1]
    size = extents[more[0]] if more else 1
    if len(extents) != len(_AXES) or len(more) > 1 or size not in (1, 2, 4, PORTABLE_CLUSTER):
        raise TilecError(
            f"{CTA_CLUSTER} is array<i64: X, Y, Z>, of which one may be 2, 4 or "
            f"{PORTABLE_CLUSTER} and the others are 1, not {function.attributes[CTA_CLUSTER]}"
        )
    return Cluster(more[0], size) if size > 1 else None


def why_no_cluster(kernel: Kernel, target: Target, tiles: scf.ForOp | None) -> str:
    """Why a kernel's CTAs are not clusters, whatever they would share; empty if they may be.

    Args:
        kernel: the kernel.
        target: what it is for.
        tiles: the loop over tiles around that of its products, if there is one.
    """
    function = kernel.function
    persistent = given_attribute(function, PERSISTENT, ir.BoolAttr)
    if target.number < CLUSTERS_SINCE:
        return f"{target} has none"
    if cluster_size(function) is not None:
        return "it says which CTAs are a cluster"
    if tiles is not None or any(name in function.attributes for name in GRID_EXTENTS):
        return "it has a loop over tiles"
    if persistent is not None and not persistent.value:
        return "each of its CTAs takes one tile"
    return ""


def pairs_along(kernel: Kernel) -> list[Cluster]:
    """The clusters of two along each axis of the grid that counts, the preferred axis first.

    Along an axis of which the kernel says that it has one CTA there are none.
    """
    named = {dimension_of(op) for op in kernel.named(gpu.BlockIdOp)}
    extents = given_attribute(kernel.function, "known_grid_size", ir.DenseI32ArrayAttr) or ()
    named -= {axis for axis, extent in enumerate(extents) if extent == 1}
    return [Cluster(axis, CLUSTER_CTAS) for axis in _PREFERRED if axis in named]


def can_be_parted(buffer: Value, size: int) -> bool:
    """Whether what fills a buffer can be loaded in so many parts: of its panels, or their lines."""
    shape = list(memref_of(buffer).shape)
    if len(shape) < _OF_PANELS:
        return False
    panels, lines = shape[-3:-1]
    return panels % size == 0 or lines % (LINES * size) == 0


def same_copies(loop: Op, axis: int) -> list[AsyncCopyOp]:
    """The copies in a loop's body that are the same in CTAs that differ along an axis alone."""
    return [
        op
        for op in loop.regions[0].blocks[0].operations
        if isinstance(op, AsyncCopyOp)
        and defining_op(op.operands[1], AllocSharedOp) is not None
        and not any(axis in axes_of(index) for index in op.source_indices)
    ]


def axes_of(value: Value) -> set[int]:
    """The axes of the grid along which a value may differ from CTA to CTA."""
    found: set[int] = set()
    seen: set[Op] = set()
    taken = [value]
    while taken:
        one = taken.pop()
        owner = one.owner
        if isinstance(owner, ir.Block):
            around = owner.owner
            if isinstance(around.opview, gpu.GPUFuncOp):
                continue
            if not isinstance(around.opview, scf.ForOp):
                return set(range(len(_AXES)))
            if one != owner.arguments[0]:  # what a loop carries
                return set(range(len(_AXES)))
            taken += list(around.operands)[:3]
            continue
        if owner.operation in seen:
            continue
        seen.add(owner.operation)
        place = place_of(owner)
        if place is Place.BLOCK:
            found.add(dimension_of(owner))
        elif place is Place.CLUSTER or len(owner.operation.regions):
            return set(range(len(_AXES)))
        taken += list(owner.operation.operands)
    return found
