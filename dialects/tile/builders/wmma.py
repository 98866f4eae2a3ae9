"""Builders of the `wmma` instructions' ops."""

from __future__ import annotations

from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.isa import Family, Form, TilecError

from ..dialect import WmmaType
from ..ops import WmmaElementwiseOp, WmmaFillOp, WmmaLoadOp, WmmaMmaOp, WmmaStoreOp
from ..tiles import element_name
from ..wmma import wmma_operand
from .caller import located
from .emit import Index, constant, emit, form_name, indices_of
from .types import TypeLike, find_form, operand_fragment, parsed_type


@located
def wmma_mma(form: Form | str, a: Value, b: Value, c: Value) -> Value:
    """`tile.wmma_mma`: `a · b + c` by one instruction."""
    type_ = operand_fragment(find_form(form, Family.WMMA_MMA), "d")
    return emit(WmmaMmaOp, [a, b, c], type_, {"form": form_name(form)})


@located
def wmma_load(form: Form | str, source: Value, *indices: Index) -> Value:
    """`tile.wmma_load`: the form's fragment from memory at `indices`."""
    found = find_form(form, Family.WMMA_LOAD)
    (result,) = found.results
    type_ = operand_fragment(found, result.name)
    operands = [source, *indices_of(indices)]
    return emit(WmmaLoadOp, operands, type_, {"form": form_name(form)})


@located
def wmma_store(form: Form | str, value: Value, target: Value, *indices: Index) -> None:
    """`tile.wmma_store`: a fragment to memory; the mirror of `wmma_load`."""
    operands = [value, target, *indices_of(indices)]
    emit(WmmaStoreOp, operands, attributes={"form": form_name(form)})


@located
def wmma_fill(value: Value | float, type: TypeLike) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.wmma_fill`: a fragment of `type` whose elements all are `value`, maybe a number."""
    type = parsed_type(type)  # noqa: A001
    if not isinstance(value, ir.Value):
        if not isinstance(type, WmmaType):
            raise TilecError(f"type must be a !tile.wmma, not {type}")
        value = constant(value, parsed_type(element_name(wmma_operand(type))))
    return emit(WmmaFillOp, [value], type)


@located
def wmma_elementwise(fn: str, first: Value, *inputs: Value, **attributes: Attribute) -> Value:
    """`tile.wmma_elementwise`: the upstream op `fn` on each element of fragments of one type."""
    attributes["fn"] = ir.StringAttr.get(fn)
    return emit(WmmaElementwiseOp, [first, *inputs], first.type, attributes)
