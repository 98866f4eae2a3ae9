"""The `red` forms that update global memory: an operation with what lies there, without a result.

PTX ISA, "Parallel Synchronization and Communication Instructions: red". The updates of one
instruction are atomic element by element. Sums of floats round to nearest even.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .targets import Since, Target, min_ptx
from .versions import PtxVersion

_ALWAYS = (Since.of("sm_70", "6.0"),)
_BFLOAT = (Since.of("sm_90", "7.8"),)
_VECTORS = (Since.of("sm_90", "8.1"),)


class Reduction(NamedTuple):
    """One form of `red`, relaxed and of the scope of a GPU.

    Attributes:
        ptx: the mnemonic.
        op: the operation.
        type: type of an element; integers whose sign does not matter are `u` or `b`.
        elements: how many it updates, side by side and aligned as one access.
        registers: how many hold them.
        since: targets and PTX versions, one clause each.
    """

    ptx: str
    op: str
    type: str
    elements: int
    registers: int
    since: tuple[Since, ...]

    def min_ptx(self, target: Target) -> PtxVersion | None:
        """The lowest PTX version with which `target` has the form; None if it never does."""
        return min_ptx(self.since, target)


def _form(op: str, type_: str, packed: int, registers: int, since: tuple[Since, ...]) -> Reduction:
    noftz = ".noftz" if type_.endswith("16") else ""
    vector = f".v{registers}" if registers > 1 else ""
    pair = "x2" if packed == 2 else ""
    ptx = f"red.relaxed.gpu.global.{op}{noftz}{vector}.{type_}{pair}"
    return Reduction(ptx, op, type_, packed * registers, registers, since)


def _reductions() -> Iterator[Reduction]:
    for type_ in ("u32", "u64", "f32", "f64"):
        yield _form("add", type_, 1, 1, _ALWAYS)
    for op in ("min", "max"):
        for type_ in ("s32", "u32", "s64", "u64"):
            yield _form(op, type_, 1, 1, _ALWAYS)
    for op in ("and", "or", "xor"):
        for type_ in ("b32", "b64"):
            yield _form(op, type_, 1, 1, _ALWAYS)
    yield _form("add", "f16", 1, 1, (Since.of("sm_70", "6.3"),))
    yield _form("add", "f16", 2, 1, (Since.of("sm_70", "6.2"),))
    yield _form("add", "bf16", 1, 1, _BFLOAT)
    yield _form("add", "bf16", 2, 1, _BFLOAT)
    for registers in (2, 4):
        yield _form("add", "f32", 1, registers, _VECTORS)
        for type_ in ("f16", "bf16"):
            yield _form("add", type_, 2, registers, _VECTORS)


REDUCTIONS: Mapping[str, Reduction] = MappingProxyType({one.ptx: one for one in _reductions()})
"""Every form, by mnemonic."""


def reductions(op: str, type_: str) -> tuple[Reduction, ...]:
    """The forms that do `op` on elements of a type, those of fewer elements first."""
    found = (one for one in REDUCTIONS.values() if (one.op, one.type) == (op, type_))
    return tuple(sorted(found, key=lambda one: one.elements))
