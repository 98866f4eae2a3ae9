"""The `red` forms: an operation with what lies in global or shared memory, without a result.

PTX ISA, "Parallel Synchronization and Communication Instructions: red". The updates of one
instruction are atomic element by element. Sums of floats round to nearest even.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .targets import Since, Target, min_ptx
from .versions import PtxVersion

GLOBAL = "global"
"""The state space of arrays that kernels are passed."""
SHARED = "shared"
"""The state space of what the threads of a CTA have in common."""
_SCOPES = {GLOBAL: "gpu", SHARED: "cta"}
"""Among which threads an update is atomic: all that may see what it updates."""
_ALWAYS = (Since.of("sm_70", "6.0"),)
_BFLOAT = (Since.of("sm_90", "7.8"),)
_VECTORS = (Since.of("sm_90", "8.1"),)


class Reduction(NamedTuple):
    """One form of `red`, relaxed, of the scope of a GPU or, in shared memory, of a CTA.

    Attributes:
        ptx: the mnemonic.
        op: the operation.
        type: type of an element; integers whose sign does not matter are `u` or `b`.
        elements: how many it updates, side by side and aligned as one access.
        registers: how many hold them.
        space: the state space, global or shared.
        since: targets and PTX versions, one clause each.
    """

    ptx: str
    op: str
    type: str
    elements: int
    registers: int
    space: str
    since: tuple[Since, ...]

    def min_ptx(self, target: Target) -> PtxVersion | None:
        """The lowest PTX version with which `target` has the form; None if it never does."""
        return min_ptx(self.since, target)


def _form(
    op: str,
    type_: str,
    packed: int,
    registers: int,
    since: tuple[Since, ...],
    space: str = GLOBAL,
) -> Reduction:
    noftz = ".noftz" if type_.endswith("16") else ""
    vector = f".v{registers}" if registers > 1 else ""
    pair = "x2" if packed == 2 else ""
    where = f"{_SCOPES[space]}.{space}"
    ptx = f"red.relaxed.{where}.{op}{noftz}{vector}.{type_}{pair}"
    return Reduction(ptx, op, type_, packed * registers, registers, space, since)


def _of_words(space: str) -> Iterator[Reduction]:
    """The forms that there are in both state spaces: of one register."""
    for type_ in ("u32", "u64", "f32", "f64"):
        yield _form("add", type_, 1, 1, _ALWAYS, space)
    for op in ("min", "max"):
        for type_ in ("s32", "u32", "s64", "u64"):
            yield _form(op, type_, 1, 1, _ALWAYS, space)
    for op in ("and", "or", "xor"):
        for type_ in ("b32", "b64"):
            yield _form(op, type_, 1, 1, _ALWAYS, space)
    yield _form("add", "f16", 1, 1, (Since.of("sm_70", "6.3"),), space)
    yield _form("add", "f16", 2, 1, (Since.of("sm_70", "6.2"),), space)
    yield _form("add", "bf16", 1, 1, _BFLOAT, space)
    yield _form("add", "bf16", 2, 1, _BFLOAT, space)


def _reductions() -> Iterator[Reduction]:
    for space in _SCOPES:
        yield from _of_words(space)
    for registers in (2, 4):
        yield _form("add", "f32", 1, registers, _VECTORS)
        for type_ in ("f16", "bf16"):
            yield _form("add", type_, 2, registers, _VECTORS)


REDUCTIONS: Mapping[str, Reduction] = MappingProxyType({one.ptx: one for one in _reductions()})
"""Every form, by mnemonic."""


def reductions(op: str, type_: str, space: str = GLOBAL) -> tuple[Reduction, ...]:
    """The forms that do `op` on elements of a type in a state space, of fewer elements first."""
    wanted = op, type_, space
    found = (one for one in REDUCTIONS.values() if (one.op, one.type, one.space) == wanted)
    return tuple(sorted(found, key=lambda one: one.elements))
