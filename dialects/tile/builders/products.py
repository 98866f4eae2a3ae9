"""Builders of matrix products: one instruction each, or as many as a CTA's tiles need."""

from __future__ import annotations

from typing import Any

from tilec.isa import Family, Form

from .. import tiles
from .caller import located
from .emit import emit, form_name, i64
from .types import find_form, operand_fragment, retyped


@located
def mma(form: Form | str, a: Any, b: Any, c: Any) -> Any:
    """`tile.mma`: `a · b + c` by one instruction, of its fragments."""
    return _product("tile.mma", find_form(form, Family.MMA), [a, b, c])


@located
def dot(form: Form | str, a: Any, b: Any, c: Any) -> Any:
    """`tile.dot`: `a · b + c` on a CTA's tiles, by instructions of one form.

    The result has the shape and layout of `c` and the form's element type of D.
    """
    found = find_form(form, Family.MMA)
    type_ = retyped(c, element=tiles.element_name(found.operand("d")))
    return emit("tile.dot", [a, b, c], type_, {"form": form_name(found)})


@located
def mma_sp(form: Form | str, a: Any, b: Any, c: Any, e: Any, *, selector: int = 0) -> Any:
    """`tile.mma_sp`: `a · b + c` with a sparse A as stored and its metadata `e`."""
    found = find_form(form, Family.MMA_SP)
    return _product("tile.mma_sp", found, [a, b, c, e], selector=selector)


@located
def mma_scaled(
    form: Form | str,
    a: Any,
    b: Any,
    c: Any,
    sfa: Any,
    sfb: Any,
    *,
    byte_id_a: int = 0,
    thread_id_a: int = 0,
    byte_id_b: int = 0,
    thread_id_b: int = 0,
) -> Any:
    """`tile.mma_scaled`: `(a · sfa) · (b · sfb) + c`; the ids pick among the scale factors."""
    return _product(
        "tile.mma_scaled",
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
    a: Any,
    b: Any,
    c: Any,
    e: Any,
    sfa: Any,
    sfb: Any,
    *,
    selector: int = 0,
    byte_id_a: int = 0,
    thread_id_a: int = 0,
    byte_id_b: int = 0,
    thread_id_b: int = 0,
) -> Any:
    """`tile.mma_sp_scaled`: `mma_scaled` with a sparse A and its metadata `e`."""
    return _product(
        "tile.mma_sp_scaled",
        find_form(form, Family.MMA_SP_BLOCK_SCALE),
        [a, b, c, e, sfa, sfb],
        selector=selector,
        byte_id_a=byte_id_a,
        thread_id_a=thread_id_a,
        byte_id_b=byte_id_b,
        thread_id_b=thread_id_b,
    )


def _product(name: str, form: Form, operands: list[Any], **selectors: int) -> Any:
    """One instruction whose result is its operand `d`."""
    attributes = {"form": form_name(form)}
    attributes |= {selector: i64(value) for selector, value in selectors.items()}
    return emit(name, operands, operand_fragment(form, "d"), attributes)
