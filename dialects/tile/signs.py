"""Whether the integers that a product multiplies have a sign: what its flags and its form say."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tilec.isa import Product, TilecError, forms_of
from tilec.isa.types import Kind

FLAGS: Mapping[str, str] = {"a": "unsigned_a", "b": "unsigned_b"}
"""The unit attributes of a product, by the operand that they speak of."""


def check_signs(form: Product, unsigned: Collection[str]) -> None:
    """Check that a form takes integers of A and of B as they are.

    Args:
        form: the instruction.
        unsigned: which of `a` and `b` have no sign; those that are not among them have one.

    Raises:
        TilecError: naming the form that does, if there is one.
    """
    for name in FLAGS:
        wanted = Kind.UNSIGNED if name in unsigned else Kind.SIGNED
        given = form.operand(name).type
        if given.kind is wanted:
            continue
        if not given.is_integer:
            raise TilecError(
                f"{', '.join(FLAGS[n] for n in sorted(unsigned))} applies to integers; {form.ptx} "
                f"takes {given} as {name}"
            )
        twin = _with_signs(form, unsigned)
        legal = f"{twin.ptx}, or omit the form to let tilec choose" if twin else "another form"
        raise TilecError(
            f"{form.ptx} takes {given} as {name}, whose integers are {wanted} here; legal: {legal}"
        )


def _with_signs(form: Product, unsigned: Collection[str]) -> Product | None:
    """The form that differs only in the signs of A and B, or None."""
    name = _without_signs(form)
    for other in forms_of(Product):
        if _without_signs(other) == name:
            kinds = {side: other.operand(side).type.kind for side in FLAGS}
            if all((kind is Kind.UNSIGNED) == (side in unsigned) for side, kind in kinds.items()):
                return other
    return None


def _without_signs(form: Product) -> str:
    """The mnemonic, with integers' types alike whether they have a sign."""
    words = form.ptx.split(".")
    return ".".join(f"i{word[1:]}" if word in ("s4", "s8", "u4", "u8") else word for word in words)
