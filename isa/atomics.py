"""The `atom` forms: an operation with what lies in memory, whose old value they give.

PTX ISA, "Parallel Synchronization and Communication Instructions: atom". Sums of floats round to
nearest even.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .reductions import GLOBAL, SHARED
from .targets import Since, Target, min_ptx
from .versions import PtxVersion

ORDERS = ("relaxed", "acquire", "release", "acq_rel")
"""How an atomic operation is ordered with others of its thread."""
SCOPES = ("cta", "gpu", "sys")
"""Among which threads it is atomic, and ordered."""

_WORDS = 6
"""Of a mnemonic, but for `.noftz`."""
_ALWAYS = (Since.of("sm_70", "6.0"),)
_CAS_16 = (Since.of("sm_70", "6.3"),)
_HALVES = (Since.of("sm_70", "6.3"),)
_BFLOAT = (Since.of("sm_90", "7.8"),)


class Atomic(NamedTuple):
    """One form of `atom`, whatever its order and scope.

    Attributes:
        op: the operation.
        type: type of the element; integers whose sign does not matter are `u` or `b`.
        since: targets and PTX versions, one clause each.
    """

    op: str
    type: str
    since: tuple[Since, ...]

    def ptx(self, order: str, scope: str, space: str = GLOBAL) -> str:
        """The mnemonic.

        Args:
            order: one of `ORDERS`.
            scope: one of `SCOPES`.
            space: the state space, global or shared.
        """
        noftz = ".noftz" if self.type in ("f16", "bf16") else ""
        return f"atom.{order}.{scope}.{space}.{self.op}{noftz}.{self.type}"

    def min_ptx(self, target: Target) -> PtxVersion | None:
        """The lowest PTX version with which `target` has the form; None if it never does."""
        return min_ptx(self.since, target)


def _atomics() -> Iterator[Atomic]:
    for type_ in ("u32", "u64", "f32", "f64"):
        yield Atomic("add", type_, _ALWAYS)
    yield Atomic("add", "f16", _HALVES)
    yield Atomic("add", "bf16", _BFLOAT)
    for op in ("min", "max"):
        for type_ in ("s32", "u32", "s64", "u64"):
            yield Atomic(op, type_, _ALWAYS)
    for op in ("and", "or", "xor", "exch", "cas"):
        for type_ in ("b32", "b64"):
            yield Atomic(op, type_, _ALWAYS)
    yield Atomic("cas", "b16", _CAS_16)


ATOMICS: Mapping[tuple[str, str], Atomic] = MappingProxyType(
    {(one.op, one.type): one for one in _atomics()}
)
"""Every form, by operation and type."""


def atomic_named(mnemonic: str) -> Atomic | None:
    """The form that a mnemonic names, whatever its order, scope and state space; None if none."""
    if not mnemonic.startswith("atom."):
        return None
    words = mnemonic.replace(".noftz", "").split(".")
    if len(words) != _WORDS:
        return None
    _, order, scope, space, op, type_ = words
    found = ATOMICS.get((op, type_)) if space in (GLOBAL, SHARED) else None
    return found if found is not None and found.ptx(order, scope, space) == mnemonic else None
