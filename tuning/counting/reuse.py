"""What CTAs that run at the same time read together, by the addresses that they begin with.

The order of tiles decides it: CTAs of a row of tiles read the same rows of A, those of a column the
same columns of B. Nothing is assumed of the order; the kernel's own code says where a CTA reads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tilec.sim.ptx.module import Address, Instruction, Operand
from tilec.sim.traits import Unit, traits, unit

from .touches import SECTOR
from .values import Registers, Value

Place = Callable[[], "float | None"]
"""The share of the CTAs' bytes that differ among them; None where it is not known."""


def place_of(registers: Registers, found: Instruction) -> Place | None:
    """What finds how much of a read of global memory CTAs share; None if it is no read."""
    source = _source(found)
    if source is None:
        return None
    if "tensor" in found.modifiers:
        assert isinstance(source, Address)
        parts = [registers.address(source), *(_coordinates(registers, source))]
        return lambda: _share([part() for part in parts])
    at = registers.address(source)

    def sectors() -> float | None:
        lanes = at()
        return None if lanes is None else _share([lanes[:, :, :1] // SECTOR])

    return sectors


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
        case Unit.COPY if len(brackets) > 1 and _to_shared(found):
            return brackets[1]
    return None


def _to_shared(found: Instruction) -> bool:
    """Whether a copy goes from global to shared memory: the state space of its target is first."""
    spaces = [w.partition("::")[0] for w in found.modifiers if w.startswith(("shared", "global"))]
    return spaces[:1] == ["shared"]


def _share(parts: list[Value | None]) -> float | None:
    """Different places over all, each CTA and warp of its own."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    spread = np.broadcast_arrays(*known)
    rows = np.stack([one[:, :, 0].reshape(-1) for one in spread], axis=1)
    if len(rows) < 1:
        return None
    return len(np.unique(rows, axis=0)) / len(rows)
