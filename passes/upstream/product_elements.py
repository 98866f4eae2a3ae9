"""What matrix instructions take and give, of products written in upstream's types."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tilec.dialects.tile.tiles import bits_of, element_name
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.isa import Mma, TilecError, forms_of

TF32 = "tile.tf32"
"""Unit attribute of a product of f32: its operands may be taken as tf32."""


_PACKED = ("i4",)
"""Elements of which upstream's memory holds one a byte, and tilec's two."""


class Elements(NamedTuple):
    """Element types of a product of tiles.

    Attributes:
        a: of A.
        b: of B.
        total: of the accumulators; of the result, or f32 that is rounded to it at the end.
    """

    a: Type
    b: Type
    total: Type


def product_elements(a: Type, b: Type, result: Type, *, tf32: bool) -> Elements:
    """The element types in which a product is computed.

    Args:
        a: element type of A.
        b: of B.
        result: of the result.
        tf32: whether f32 may be taken as tf32.

    Raises:
        TilecError: if no target has an instruction for them, naming those that there are.
    """
    if tf32 and str(a) == str(b) == "f32":
        a = b = ir.FloatTF32Type.get()
    known = _totals()
    totals = known.get((str(a), str(b)), frozenset())
    if str(result) in totals:
        return Elements(a, b, result)
    f32 = ir.F32Type.get()
    if "f32" in totals and isinstance(result, ir.FloatType) and bits_of(result) < f32.width:
        return Elements(a, b, f32)
    if str(a) == str(b) == "f32":
        raise TilecError(
            f"multiplies f32 by f32, which no instruction does; with the attribute {TF32} one "
            "multiplies them as tf32"
        )
    legal = (f"{x} by {y} to {' or '.join(sorted(z))}" for (x, y), z in sorted(known.items()))
    raise TilecError(
        f"multiplies {a} by {b} to {result}, which no instruction does; legal: {', '.join(legal)}"
    )


@cache
def _totals() -> dict[tuple[str, str], frozenset[str]]:
    """MLIR's names of the accumulators' types by those of A and B, over all targets."""
    found: dict[tuple[str, str], set[str]] = {}
    for form in forms_of(Mma):
        if form.sparsity is None and form.scaling is None and form.bit_op is None:
            a, b, c, d = (element_name(form.operand(name)) for name in "abcd")
            if c == d and not any(name in _PACKED or name.startswith("!") for name in (a, b)):
                found.setdefault((a, b), set()).add(d)
    return {operands: frozenset(totals) for operands, totals in found.items()}
