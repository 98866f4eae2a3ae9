"""Builders of matrix products: one instruction each, or as many as a CTA's tiles need."""

from __future__ import annotations

from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.isa import Family, Form

from .. import tiles
from ..dots import DOTS
from ..ops import (
    DotOp,
    DotScaledOp,
    DotSpOp,
    DotSpScaledOp,
    MmaOp,
    MmaScaledOp,
    MmaSpOp,
    MmaSpScaledOp,
)
from ..ops.base import TileOp
from .caller import located
from .emit import emit, form_name, i64
from .types import find_form, operand_fragment, retyped


@located
def mma(form: Form | str, a: Value, b: Value, c: Value) -> Value:
    """`tile.mma`: `a · b + c` by one instruction, of its fragments."""
    return _product(MmaOp, find_form(form, Family.MMA), [a, b, c])


@located
def dot(
    form: Form | str | None,
    a: Value,
    b: Value,
    c: Value,
    *,
    unsigned: str = "",
    warps: tuple[int, int] | None = None,
) -> Value:
    """`tile.dot`: `a · b + c` on a CTA's tiles, by instructions of one form.

    The result has the shape and layout of `c` and the form's element type of D.

    Args:
        form: the instruction; None of tiles without layouts leaves it to `tile-select-mma`.
        a: MxK.
        b: KxN.
        c: MxN.
        unsigned: which of the operands are of unsigned integers: `a`, `b` or `ab`.
        warps: warps along M and N, of tiles without layouts.
    """
    return _dot(DotOp, form, [a, b, c], unsigned, warps)


@located
def dot_sp(
    form: Form | str | None,
    a: Value,
    b: Value,
    c: Value,
    e: Value,
    *,
    unsigned: str = "",
    warps: tuple[int, int] | None = None,
) -> Value:
    """`tile.dot_sp`: `dot` with a sparse A as stored, MxK/2, and its metadata `e`."""
    return _dot(DotSpOp, form, [a, b, c, e], unsigned, warps)


@located
def dot_scaled(
    form: Form | str | None,
    a: Value,
    b: Value,
    c: Value,
    sfa: Value,
    sfb: Value,
    *,
    warps: tuple[int, int] | None = None,
) -> Value:
    """`tile.dot_scaled`: `(a · sfa) · (b · sfb) + c`, a scale factor for each block along K."""
    return _dot(DotScaledOp, form, [a, b, c, sfa, sfb], "", warps)


@located
def dot_sp_scaled(
    form: Form | str | None,
    a: Value,
    b: Value,
    c: Value,
    e: Value,
    sfa: Value,
    sfb: Value,
    *,
    warps: tuple[int, int] | None = None,
) -> Value:
    """`tile.dot_sp_scaled`: `dot_scaled` with a sparse A and its metadata `e`."""
    return _dot(DotSpScaledOp, form, [a, b, c, e, sfa, sfb], "", warps)


def _dot(
    op: type[TileOp],
    form: Form | str | None,
    operands: list[Value],
    unsigned: str,
    warps: tuple[int, int] | None,
) -> Value:
    type_ = operands[2].type
    attributes: dict[str, Attribute] = {
        f"unsigned_{operand}": ir.UnitAttr.get() for operand in unsigned
    }
    if form is not None:
        found = find_form(form, DOTS[op.OPERATION_NAME].family)
        type_ = retyped(operands[2], element=tiles.element_name(found.operand("d")))
        attributes["form"] = form_name(found)
    if warps is not None:
        attributes["warps"] = ir.DenseI64ArrayAttr.get(list(warps))
    return emit(op, operands, type_, attributes)


@located
def mma_sp(form: Form | str, a: Value, b: Value, c: Value, e: Value, *, selector: int = 0) -> Value:
    """`tile.mma_sp`: `a · b + c` with a sparse A as stored and its metadata `e`."""
    found = find_form(form, Family.MMA_SP)
    return _product(MmaSpOp, found, [a, b, c, e], selector=selector)


@located
def mma_scaled(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    sfa: Value,
    sfb: Value,
    *,
    byte_id_a: int = 0,
    thread_id_a: int = 0,
    byte_id_b: int = 0,
    thread_id_b: int = 0,
) -> Value:
    """`tile.mma_scaled`: `(a · sfa) · (b · sfb) + c`; the ids pick among the scale factors."""
    return _product(
        MmaScaledOp,
        find_form(form, Family.MMA_BLOCK_SCALE),
        [a, b, c, sfa, sfb],
        byte_id_a=byte_id_a,
        thread_id_a=thread_id_a,
        byte_id_b=byte_id_b,
        thread_id_b=thread_id_b,
    )


@located
def mma_sp_scaled(
    form: Form | str,
    a: Value,
    b: Value,
    c: Value,
    e: Value,
    sfa: Value,
    sfb: Value,
    *,
    selector: int = 0,
    byte_id_a: int = 0,
    thread_id_a: int = 0,
    byte_id_b: int = 0,
    thread_id_b: int = 0,
) -> Value:
    """`tile.mma_sp_scaled`: `mma_scaled` with a sparse A and its metadata `e`."""
    return _product(
        MmaSpScaledOp,
        find_form(form, Family.MMA_SP_BLOCK_SCALE),
        [a, b, c, e, sfa, sfb],
        selector=selector,
        byte_id_a=byte_id_a,
        thread_id_a=thread_id_a,
        byte_id_b=byte_id_b,
        thread_id_b=thread_id_b,
    )


def _product(op: type[TileOp], form: Form, operands: list[Value], **selectors: int) -> Value:
    """One instruction whose result is its operand `d`."""
    attributes: dict[str, Attribute] = {"form": form_name(form)}
    attributes |= {selector: i64(value) for selector, value in selectors.items()}
    return emit(op, operands, operand_fragment(form, "d"), attributes)
