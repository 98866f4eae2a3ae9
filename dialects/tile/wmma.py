"""WMMA fragments: what a type `!tile.wmma<"…">` says, and all that may be known of them.

Which element a register holds is not defined (PTX ISA 9.7.14.4.1), so they have no layout.
"""

from __future__ import annotations

from functools import cache

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.isa import Form, Operand, TilecError, UnknownNameError, warp_forms

from .dialect import WmmaType


def wmma_text(form: Form, operand: Operand) -> str:
    """The text of the type of an operand: shape, operand, layout of a multiplicand, PTX type.

    An accumulator is `c`, whether read or written, and has no layout.
    """
    if operand.name in "cd":
        return f"{form.shape} c {operand.type}"
    return f"{form.shape} {operand.name} {_major(form, operand)} {operand.type}"


def _major(form: Form, operand: Operand) -> str:
    assert operand.major is not None, form.ptx
    return str(operand.major)


@cache
def _operands() -> dict[str, Operand]:
    """An operand of each fragment type there is, by the type's text."""
    found: dict[str, Operand] = {}
    for form in warp_forms().values():
        for operand in form.all_operands:
            if operand.opaque:
                found.setdefault(wmma_text(form, operand), operand)
    return found


def wmma_operand(type_: WmmaType) -> Operand:
    """The operand that a `!tile.wmma` type names: its registers and element type.

    Raises:
        UnknownNameError: if there is none, naming the nearest.
    """
    text = type_.operand.value
    try:
        return _operands()[text]
    except KeyError:
        raise UnknownNameError("wmma fragment", text, _operands()) from None


def wmma_type(form: Form, name: str) -> WmmaType:
    """The type of operand `name` of `form`."""
    return WmmaType.get(ir.StringAttr.get(wmma_text(form, form.operand(name))))


def check_wmma(form: Form, name: str, value: Value) -> None:
    """Check that `value` is the fragment that `form` takes as operand `name`.

    Raises:
        TilecError: naming the type that is legal.
    """
    wanted = wmma_type(form, name)
    if value.type != wanted:
        raise TilecError(f"operand {name} of {form.ptx} is a {wanted}, not {value.type}")
