"""What a form has besides operands: who executes it, selectors, sparsity, scaling, memory."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .operands import LANES, WARPGROUP_THREADS
from .types import ElementType


class ExecutionScope(StrEnum):
    """Which threads execute an instruction together."""

    THREAD = "thread"
    """One thread, for its CTA."""
    WARP = "warp"
    """All lanes of a warp."""
    WARPGROUP = "warpgroup"
    """Four consecutive warps, the first a multiple of four."""
    CTA_PAIR = "CTA pair"
    """One thread, for its CTA and the other one of the pair."""

    @property
    def threads(self) -> int:
        """How many threads issue the instruction."""
        if self is ExecutionScope.WARP:
            return LANES
        return WARPGROUP_THREADS if self is ExecutionScope.WARPGROUP else 1


class Selector(NamedTuple):
    """A small integer among the operands, such as what picks lanes or bytes.

    Attributes:
        name: `selector`, `byte_id_a`, `thread_id_a`, `byte_id_b`, `thread_id_b`.
        legal: the values that are defined.
        bits: width of the integer.
        constant: whether it must be known at compile time.
        operand: the operand that it follows, of which it picks a part; empty if it stands by
            itself, after all operands. Several of one operand are listed in braces.
    """

    name: str
    legal: tuple[int, ...]
    bits: int
    constant: bool
    operand: str = ""


class Sparsity(NamedTuple):
    """Structured sparsity of A.

    Attributes:
        ordered: `.sp::ordered_metadata` rather than `.sp`.
        chunk: logical elements of a row that share one 4-bit code: 2 (1:2), 4 (2:4), 8 (4:8).
        selectors: legal values of the sparsity selector.
    """

    ordered: bool
    chunk: int
    selectors: tuple[int, ...]

    @property
    def codes(self) -> tuple[int, ...]:
        """The codes that ordered metadata may hold: two ascending positions, the lower first."""
        return (0b0100, 0b1110) if self.chunk == 2 else (4, 8, 12, 9, 13, 14)

    @property
    def defined_codes(self) -> tuple[int, ...]:
        """The codes that the form's metadata may hold: plain `.sp` asks for no order."""
        if self.ordered or self.chunk == 2:
            return self.codes
        return tuple(code for code in range(16) if code & 3 != code >> 2)


class BlockScaling(NamedTuple):
    """Scale factors of A and B.

    Attributes:
        type: `ue8m0` or `ue4m3`.
        chunks: scale factors along K, the number in `.scale_vec::NX`.
        byte_ids: legal byte selectors, of A and of B alike.
    """

    type: ElementType
    chunks: int
    byte_ids: tuple[int, ...]


class Memory(NamedTuple):
    """What an instruction reads or writes at its address: lines of units.

    Attributes:
        lines: how many, rows or columns.
        line: `rows` or `columns`.
        extent: units of a line.
        unit: `elements` or `bytes`.
        bits: of a unit.
        addresses: lines that are at addresses of their own, one a lane; 0 where every lane gives
            the address of the first.
    """

    lines: int
    line: str
    extent: int
    unit: str
    bits: int
    addresses: int = 0
