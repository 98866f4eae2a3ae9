"""What may stand behind the usual operands of `tcgen05.mma`. PTX ISA 9.7.16.10.9.

Attributes of ops say it, constants all: lanes of D that stay as they are, the power of two that D
is divided by first, and columns of B that count as 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.isa.targets import Available

from .base import TileOp, integer

if TYPE_CHECKING:
    from tilec.isa.tensor_products import TensorProduct
    from tilec.isa.zero_columns import ZeroColumns

KEPT, EXPONENT, ZEROS = "keep_lanes", "exponent", "zero_columns"
OPTIONS = frozenset({KEPT, EXPONENT, ZEROS})
"""The attributes."""
_WORD = 32


@dataclass(frozen=True, slots=True)
class ProductOptions:
    """What an op says.

    Attributes:
        kept: words of 32 lanes, the first in the low bits: those of D that stay as they are; none
            without a mask.
        exponent: D is divided by 2 to that power first; None if that is not said.
        zeros: columns of B that count as 0; None if none do.
    """

    kept: tuple[int, ...] = ()
    exponent: int | None = None
    zeros: ZeroColumns | None = None

    @property
    def needs(self) -> tuple[Available, ...]:
        """What of it some targets have, and others have not."""
        if self.exponent is None:
            return ()
        from tilec.isa.tensor_clauses import SCALED_INPUT  # noqa: PLC0415 (for Blackwell only)

        return (SCALED_INPUT,)

    @property
    def words(self) -> dict[str, int]:
        """What registers tell the instruction, by its operands' names."""
        return {f"lanes{at}": word for at, word in enumerate(self.kept)}

    @property
    def numbers(self) -> dict[str, int]:
        """What constants tell the instruction, by its operands' names."""
        found = {}
        if self.exponent is not None:
            found["n"] = self.exponent
        if self.zeros is not None:
            found["zeros"] = self.zeros.encode()
        return found

    def operands(self, form: TensorProduct) -> str:
        """The operands of an instruction, with these."""
        return form.with_options(
            lanes=bool(self.kept),
            exponent=self.exponent is not None,
            zeros=self.zeros is not None,
        )


def options_of(op: TileOp, form: TensorProduct) -> ProductOptions:
    """What an op says to an instruction.

    Raises:
        TilecError: if the instruction takes no such thing, naming what it takes.
    """
    if not OPTIONS & {*op.attributes}:
        return ProductOptions()
    return ProductOptions(_kept(op, form), _exponent(op, form), _zeros(op, form))


def _kept(op: TileOp, form: TensorProduct) -> tuple[int, ...]:
    if KEPT not in op.attributes:
        return ()
    given = op.attributes[KEPT]
    words = list(given) if isinstance(given, ir.DenseI32ArrayAttr) else []
    if not form.masked or len(words) != form.lane_words:
        legal = f"array<i32: …> of {form.lane_words} words" if form.masked else "none"
        raise TilecError(f"{KEPT} of {form.ptx} is {legal}, not {given}")
    return tuple(word % (1 << _WORD) for word in words)


def _exponent(op: TileOp, form: TensorProduct) -> int | None:
    from tilec.isa.tensor_products import (  # noqa: PLC0415 (for Blackwell only)
        EXPONENTS,
        SCALED_INPUT_KINDS,
    )

    if EXPONENT not in op.attributes:
        return None
    if form.stationary or form.kind not in SCALED_INPUT_KINDS:
        kinds = " and ".join(f"kind::{kind}" for kind in SCALED_INPUT_KINDS)
        raise TilecError(f"{EXPONENT} is of {kinds} without .ws, not of {form.ptx}")
    value = integer(op, EXPONENT)
    if value not in EXPONENTS:
        raise TilecError(f"{EXPONENT} is {EXPONENTS[0]} to {EXPONENTS[-1]}, not {value}")
    return value


def _zeros(op: TileOp, form: TensorProduct) -> ZeroColumns | None:
    from tilec.isa.zero_columns import ZeroColumns  # noqa: PLC0415 (for Blackwell only)

    if ZEROS not in op.attributes:
        return None
    if not form.stationary:
        raise TilecError(f"{ZEROS} is of products with .ws, not of {form.ptx}")
    return ZeroColumns.decode(integer(op, ZEROS) % (1 << 64))
