"""Builders of what happens within a warp: values, arithmetic, layouts."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.isa import Family, Form, TilecError
from tilec.layout import fragment_of

from .. import tiles
from ..ops import (
    CastOp,
    ConcatOp,
    ConvertLayoutOp,
    ElementwiseOp,
    FillOp,
    InlineAsmOp,
    InlineAsmVolatileOp,
    MovmatrixOp,
    SelectOp,
    SliceOp,
)
from ..ops.elementwise import COMPARISONS
from ..ops.inline_asm import sizes
from ..ops.movmatrix import one_matrix
from .caller import located
from .emit import constant, emit, emit_all, form_name, i64
from .types import Layout, TypeLike, find_form, parsed_type, retyped


@located
def fill(value: Value | float, type: TypeLike) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.fill`: a tile or fragment of `type` whose elements all are `value`.

    Args:
        value: a scalar of the element type, or a Python number.
        type: a tensor with a layout, or a fragment.
    """
    type = parsed_type(type)  # noqa: A001
    if not isinstance(value, ir.Value):
        tile = tiles.tile_value(type)
        if tile is None:
            raise TilecError(f"type must be a tensor with a layout or a fragment, not {type}")
        value = constant(value, tile.element)
    return emit(FillOp, [value], type)


@located
def elementwise(fn: str, first: Value, *inputs: Value, **attributes: Attribute) -> Value:
    """`tile.elementwise`: the upstream op `fn`, such as `arith.addf`, on each element.

    Args:
        fn: the op's full name.
        first: a fragment.
        inputs: further ones of its type.
        attributes: of the upstream op, such as `fastmath`, as MLIR attributes.
    """
    attributes["fn"] = ir.StringAttr.get(fn)
    type_ = retyped(first, element="i1") if fn in COMPARISONS else first.type
    return emit(ElementwiseOp, [first, *inputs], type_, attributes)


@located
def inline_asm(
    asm: str,
    constraints: str,
    inputs: Sequence[Value],
    elements: Sequence[TypeLike],
    *,
    pack: int = 1,
    volatile: bool = False,
) -> list[Value]:
    """`tile.inline_asm`: PTX on each element; its results.

    Args:
        asm: the text, with `$0` and so on for registers.
        constraints: a letter for each register, outputs first.
        inputs: 1 to 4 tiles or fragments of one shape and layout.
        elements: the element type of each of 1 to 4 results.
        pack: elements at a time.
        volatile: whether it is `tile.inline_asm_volatile`, which is executed as often as written.
    """
    kind = InlineAsmVolatileOp if volatile else InlineAsmOp
    attributes: dict[str, Attribute] = {
        "asm": ir.StringAttr.get(asm),
        "constraints": ir.StringAttr.get(constraints),
    }
    if pack != 1:
        attributes["pack"] = i64(pack)
    attributes |= sizes(len(inputs), len(elements))
    types = [retyped(inputs[0], element=element) for element in elements]
    return emit_all(kind, inputs, types, attributes)


@located
def inline_asm_volatile(
    asm: str,
    constraints: str,
    inputs: Sequence[Value],
    elements: Sequence[TypeLike],
    *,
    pack: int = 1,
) -> list[Value]:
    """`tile.inline_asm_volatile`: as `inline_asm`, executed as often as it is written."""
    return inline_asm(asm, constraints, inputs, elements, pack=pack, volatile=True)


@located
def select(condition: Value, on_true: Value, on_false: Value) -> Value:
    """`tile.select`: of two fragments one, element by element.

    Args:
        condition: a fragment of i1 with their layout, or an i1.
        on_true: what to take where it holds.
        on_false: what to take elsewhere.
    """
    return emit(SelectOp, [condition, on_true, on_false], on_true.type)


@located
def cast(fn: str, source: Value, element: TypeLike, **attributes: Attribute) -> Value:
    """`tile.cast`: the upstream cast `fn`, such as `arith.truncf`, on each element.

    Args:
        fn: the cast's full name.
        source: a fragment.
        element: element type of the result.
        attributes: of the upstream cast, as MLIR attributes.
    """
    attributes["fn"] = ir.StringAttr.get(fn)
    return emit(CastOp, [source], retyped(source, element=element), attributes)


@located
def convert_layout(source: Value, layout: Layout) -> Value:
    """`tile.convert_layout`: the same tile under another layout."""
    return emit(ConvertLayoutOp, [source], retyped(source, layout=layout))


@located
def slice(whole: Value, index: int, *, type: TypeLike) -> Value:  # noqa: A001, A002 (MLIR's words)
    """`tile.slice`: part number `index` of a fragment made of fragments of `type`."""
    return emit(SliceOp, [whole], type, {"index": i64(index)})


@located
def concat(parts: Sequence[Value], *, type: TypeLike) -> Value:  # noqa: A002 (MLIR's word)
    """`tile.concat`: a fragment of `type` from all its parts, in the order of `slice`."""
    return emit(ConcatOp, list(parts), type)


@located
def movmatrix(form: Form | str, source: Value) -> Value:
    """`tile.movmatrix`: an 8x8 tile held along rows, then along columns."""
    layout = one_matrix(fragment_of(find_form(form, Family.MOVMATRIX), "d"))
    type_ = retyped(source, layout=layout)
    return emit(MovmatrixOp, [source], type_, {"form": form_name(form)})


@located
def index(value: int) -> Value:
    """An `arith.constant` of type index."""
    return constant(value, ir.IndexType.get())
