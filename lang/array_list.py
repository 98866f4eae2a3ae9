"""Several arrays as one argument, of which the kernel may choose one when it runs."""

from __future__ import annotations

from typing import Any

from tilec.ir import ops
from tilec.isa import TilecError

from .arithmetic import binary
from .array import Array, chosen
from .emit import emit
from .tile import Tile


class ArrayList(tuple[Any, ...]):
    """A tuple that is indexed by a scalar of the kernel as well, if all in it are of one type."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, Tile):
            found = super().__getitem__(index)
            return ArrayList(found) if isinstance(index, slice) else found
        if index.shape or index.dtype.kind in ("float", "bool"):
            raise TilecError(f"the arguments are indexed by an integer, not {index!r}")
        found = super().__getitem__(0)
        if not isinstance(found, Array | Tile):
            raise TilecError(
                f"one of several arguments is chosen when the kernel runs: they are arrays or "
                f"scalars of one type, not {found!r}"
            )
        for number, other in enumerate(self[1:], 1):
            found = _chosen(binary("equal", index, number), other, found)
        return found


def _chosen(held: Tile, one: Any, other: Any) -> Any:
    """`one if held else other`."""
    if (
        type(one) is not type(other)
        or one.dtype is not other.dtype  # MLIR's types have no sign
        or one.value.type != other.value.type
    ):
        raise TilecError(
            f"one of several arguments is chosen when the kernel runs, and they are of several "
            f"types: {one!r} and {other!r}"
        )
    value = emit(ops.arith.select, held.value, one.value, other.value)
    if isinstance(one, Tile):
        return Tile(value, one.dtype, natural=one.natural and other.natural)
    return chosen(value, one, other)
