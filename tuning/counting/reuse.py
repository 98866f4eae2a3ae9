"""What CTAs that run at the same time read together, by the addresses that they begin with.

The order of tiles decides it: CTAs of a row of tiles read the same rows of A, those of a column the
same columns of B. Nothing is assumed of the order; the kernel's own code says where a CTA reads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tilec.sim.ptx.module import Address, Instruction, Operand
from tilec.sim.traits import Unit, traits, unit

from .touches import SECTOR, readers, to_shared
from .values import Registers, Value

_NOWHERE = np.iinfo(np.int64).max
"""The sector of a thread that reads nothing."""
Place = Callable[["Value | None"], "float | None"]
"""The share of what the threads of a mask read that differs among them; None where it is not known.
A mask of None is all threads."""


def place_of(registers: Registers, found: Instruction) -> Place | None:
    """What finds how much of a read of global memory CTAs share; None if it is no read."""
    source = _source(found)
    if source is None:
        return None
    shape = registers.shape
    if "tensor" in found.modifiers:
        assert isinstance(source, Address)
        parts = [registers.address(source), *(_coordinates(registers, source))]

        def boxes(mask: Value | None) -> float | None:
            known = [value for part in parts if (value := part()) is not None]
            if len(known) < len(parts):
                return None
            chosen = _chosen(mask, shape)
            rows = np.stack([np.broadcast_to(one, shape)[chosen] for one in known], axis=1)
            return len(np.unique(rows, axis=0)) / len(rows) if len(rows) else None

        return boxes
    at, reading = registers.address(source), readers(registers, found)

    def sectors(mask: Value | None) -> float | None:
        lanes = at()
        if lanes is None:
            return None
        chosen = reading(mask)
        touched = np.broadcast_to(lanes, shape).astype(np.int64) // SECTOR
        if chosen is not None:
            touched = np.where(_chosen(chosen, shape), touched, _NOWHERE)
        each = np.sort(touched, axis=2)
        count = int(np.count_nonzero(np.diff(each, axis=2))) + shape[0] * shape[1]
        nowhere = np.count_nonzero(each[:, :, -1] == _NOWHERE) if chosen is not None else 0
        together = len(np.unique(each)) - (nowhere > 0)
        count -= int(nowhere)
        return together / count if count else None

    return sectors


def _chosen(mask: Value | None, shape: tuple[int, int, int]) -> NDArray[np.bool_]:
    """The threads of a mask, each by itself."""
    return np.ones(shape, np.bool_) if mask is None else np.broadcast_to(mask, shape)


def _coordinates(registers: Registers, source: Address) -> list[Callable[[], Value | None]]:
    items = [one for extra in source.extra for one in getattr(extra, "items", (extra,))]
    return [registers.reader(one, 32) for one in items]


def _source(found: Instruction) -> Operand | None:
    """The operand that says what is read of global memory; None if nothing is."""
    brackets = [one for one in found.operands if isinstance(one, Address)]
    what = traits(found)
    match unit(found):
        case Unit.GLOBAL if what.reads and not what.writes:
            return brackets[0] if brackets else None
        case Unit.COPY if len(brackets) > 1 and to_shared(found):
            return brackets[1]
    return None
