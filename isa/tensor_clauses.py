"""Which targets have which part of tcgen05. PTX ISA 9.7.16, "Target ISA Notes" of each.

sm_110 is sm_101 under the name it has from PTX 9.0 on; sm_107 is of sm_100's family.
"""

from __future__ import annotations

from dataclasses import dataclass

from .targets import TARGETS, TENSOR_MEMORY, Available, Since
from .versions import PtxVersion

_FIRST = {"sm_100a": "8.6", "sm_101a": "8.6", "sm_103a": "8.8", "sm_107a": "9.4", "sm_110a": "9.0"}
"""Architectures with tensor memory, and the first PTX version of each."""


def _clauses(names: tuple[str, ...], least: str) -> tuple[Since, ...]:
    """One clause a target, none before that knows its name."""
    first = PtxVersion.parse(least)
    return tuple(Since(name, max(first, TARGETS[name].min_ptx)) for name in names)


def everywhere(least: str = "8.6") -> tuple[Since, ...]:
    """All that have tensor memory, by architecture or family, from a PTX version on."""
    return _clauses(TENSOR_MEMORY, least)


def architectures(least: str = "8.6") -> tuple[Since, ...]:
    """All that have tensor memory, but code for a family has not."""
    return _clauses(tuple(_FIRST), least)


INTEGERS = _clauses(("sm_100a", "sm_101a", "sm_110a"), "8.6")
"""`.kind::i8`."""
REDUCTIONS = _clauses(("sm_101a", "sm_103f", "sm_101f", "sm_110f"), "8.8")
"""`tcgen05.ld.red`."""
EXCLUSIVE = _clauses(("sm_100f", "sm_101f", "sm_110f"), "9.4")
"""Allocation of what no other CTA gets."""
RUBIN = _clauses(("sm_107f",), "9.4")
"""What came with sm_107."""


@dataclass(frozen=True, slots=True)
class Option(Available):
    """What an operand or an instruction descriptor asks for, and some targets have.

    Attributes:
        ptx: what it is called.
        since: targets and PTX versions, one clause each.
    """

    ptx: str
    since: tuple[Since, ...]


SCALED_INPUT = Option(
    "tcgen05.mma with an accumulator that is divided first",
    (*_clauses(("sm_100a",), "8.6"), *_clauses(("sm_100f",), "8.8")),
)
"""The accumulator times a power of two."""
WIDE = Option("K = 96", _clauses(("sm_103a",), "8.8"))
"""K of 4-bit elements, which no assembler sees: a bit of the instruction descriptor."""
