"""Functions that build tile ops: result types inferred, locations those of the call.

    from tilec.dialects.tile import builders as tile

    with tile.module("copy", target="sm_80") as module:
        with tile.kernel("copy", {"x": "memref<?x?xf16>"}, block=32) as (x,):
            held = tile.load(x, 0, 0, type=tile.operand_fragment(FORM, "a"))
            tile.store(held, x, 16, 0)

Indices are values of type index or Python integers; element types are MLIR types or their
names; a layout is a `LinearLayout`, or the text of a `#tile.layout`. Every function raises
`BuildError`, a `TilecError` that names file, line and column of the call, where the op would
not verify. Control flow and scalars are upstream's: `tilec.mlir.dialect("scf")` and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilec.isa import Form, TilecError
from tilec.mlir import ir

from . import tiles
from .caller import BuildError, located
from .dialect import value_of
from .kernels import kernel, module, parsed_type
from .ops.base import memory, tile_of
from .ops.mma import dense_form
from .type_builders import (
    Layout,
    find_form,
    frag_type,
    operand_fragment,
    operand_tensor,
    shared_type,
    tensor_type,
)

# Memory


@located
def alloc_shared(shape: Sequence[int], element: Any, swizzle: str = "none") -> Any:
    """`tile.alloc_shared`: a buffer of `shared_type(shape, element, swizzle)`."""
    return _op("tile.alloc_shared", [], shared_type(shape, element, swizzle))


@located
def load(
    source: Any,
    *indices: Any,
    type: Any,  # noqa: A002 (MLIR's word)
    transposed: bool = False,
    masked: bool = False,
    vector: int = 1,
) -> Any:
    """`tile.load`: a tile or fragment of `type` from memory at `indices`.

    Args:
        source: a memref.
        indices: of the tile's first element, one a dimension of the memref.
        type: a tensor with a layout, or a fragment.
        transposed: memory holds the transpose.
        masked: elements outside the memref's extents are zero.
        vector: elements that lie together, aligned as one access.
    """
    attributes = _access(transposed, masked, vector)
    return _op("tile.load", [source, *_indices(indices)], type, attributes)


@located
def store(
    value: Any,
    target: Any,
    *indices: Any,
    transposed: bool = False,
    masked: bool = False,
    vector: int = 1,
) -> None:
    """`tile.store`: a tile or fragment to memory; the mirror of `load`."""
    attributes = _access(transposed, masked, vector)
    _op("tile.store", [value, target, *_indices(indices)], attributes=attributes)


@located
def ldmatrix(
    form: Form | str,
    source: Any,
    *indices: Any,
    type: Any,  # noqa: A002 (MLIR's word)
    transposed: bool = False,
) -> Any:
    """`tile.ldmatrix`: a fragment of `type` from shared memory by one instruction.

    `type` says how the instruction's matrices lie side by side.
    """
    attributes = {"form": _name(form), **_access(transposed)}
    return _op("tile.ldmatrix", [source, *_indices(indices)], type, attributes)


@located
def stmatrix(
    form: Form | str, value: Any, target: Any, *indices: Any, transposed: bool = False
) -> None:
    """`tile.stmatrix`: a fragment to shared memory by one instruction."""
    attributes = {"form": _name(form), **_access(transposed)}
    _op("tile.stmatrix", [value, target, *_indices(indices)], attributes=attributes)


@located
def async_copy(
    source: Any,
    at: Sequence[Any],
    target: Any,
    to: Sequence[Any],
    *,
    shape: Sequence[int] | None = None,
    masked: bool = False,
    vector: int = 1,
) -> None:
    """`tile.async_copy`: a tile from global to shared memory, by all threads of the CTA.

    Args:
        source: a memref in global memory.
        at: the tile's first indices there.
        target: a shared buffer.
        to: the tile's first indices there.
        shape: rows and columns; by default a whole matrix of the target.
        masked: elements outside the source's extents arrive as zero.
        vector: elements that go at once.
    """
    extents = list(shape) if shape is not None else list(memory(target, "target").shape)[-2:]
    operands = [source, target, *_indices(at), *_indices(to)]
    attributes = {"shape": ir.DenseI64ArrayAttr.get(extents), **_access(False, masked, vector)}
    _op("tile.async_copy", operands, attributes=attributes)


@located
def async_commit() -> None:
    """`tile.async_commit`: close the group of this thread's copies so far."""
    _op("tile.async_commit", [])


@located
def async_wait(pending: int = 0) -> None:
    """`tile.async_wait`: wait until at most `pending` of the latest groups are under way."""
    _op("tile.async_wait", [], attributes={"pending": _i64(pending)})


# Products


@located
def mma(form: Form | str, a: Any, b: Any, c: Any) -> Any:
    """`tile.mma`: `a · b + c` by one instruction, of its fragments."""
    found = dense_form(find_form(form).ptx)
    return _op("tile.mma", [a, b, c], operand_fragment(found, "d"), {"form": _name(found)})


@located
def dot(form: Form | str, a: Any, b: Any, c: Any) -> Any:
    """`tile.dot`: `a · b + c` on a CTA's tiles, by instructions of one form.

    The result has the shape and layout of `c` and the form's element type of D.
    """
    found = dense_form(find_form(form).ptx)
    element = tiles.element_name(found.operand("d"))
    return _op("tile.dot", [a, b, c], _with(c, element=element), {"form": _name(found)})


# Registers


@located
def fill(value: Any, type: Any) -> Any:  # noqa: A002 (MLIR's word)
    """`tile.fill`: a tile or fragment of `type` whose elements all are `value`.

    Args:
        value: a scalar of the element type, or a Python number.
        type: a tensor with a layout, or a fragment.
    """
    if not isinstance(value, ir.Value):
        tile = tiles.tile_value(type)
        if tile is None:
            raise TilecError(f"type must be a tensor with a layout or a fragment, not {type}")
        value = _constant(value, tile.element)
    return _op("tile.fill", [value], type)


@located
def elementwise(fn: str, *inputs: Any, **attributes: Any) -> Any:
    """`tile.elementwise`: the upstream op `fn`, such as `arith.addf`, on each element.

    Args:
        fn: the op's full name.
        inputs: fragments of one type.
        attributes: of the upstream op, such as `fastmath`, as MLIR attributes.
    """
    if not inputs:
        raise TilecError(f"{fn} takes one operand or more")
    attributes["fn"] = ir.StringAttr.get(fn)
    return _op("tile.elementwise", list(inputs), inputs[0].type, attributes)


@located
def cast(fn: str, source: Any, element: Any, **attributes: Any) -> Any:
    """`tile.cast`: the upstream cast `fn`, such as `arith.truncf`, on each element.

    Args:
        fn: the cast's full name.
        source: a fragment.
        element: element type of the result.
        attributes: of the upstream cast, as MLIR attributes.
    """
    attributes["fn"] = ir.StringAttr.get(fn)
    return _op("tile.cast", [source], _with(source, element=element), attributes)


@located
def convert_layout(source: Any, layout: Layout) -> Any:
    """`tile.convert_layout`: the same tile under another layout."""
    return _op("tile.convert_layout", [source], _with(source, layout=layout))


@located
def slice(whole: Any, index: int, *, type: Any) -> Any:  # noqa: A001, A002 (MLIR's words)
    """`tile.slice`: part number `index` of a fragment made of fragments of `type`."""
    return _op("tile.slice", [whole], type, {"index": _i64(index)})


@located
def concat(parts: Sequence[Any], *, type: Any) -> Any:  # noqa: A002 (MLIR's word)
    """`tile.concat`: a fragment of `type` from all its parts, in the order of `slice`."""
    return _op("tile.concat", list(parts), type)


@located
def index(value: int) -> Any:
    """An `arith.constant` of type index."""
    return _constant(value, ir.IndexType.get())


def _op(
    name: str, operands: list[Any], result: Any = None, attributes: dict[str, Any] | None = None
) -> Any:
    """Create and check an op at the current location; its result, if it has one.

    Raises:
        TilecError: if the op does not verify; it is then gone again.
    """
    for operand in operands:
        if not isinstance(operand, ir.Value):
            raise TilecError(f"'{name}' op takes MLIR values, not {operand!r}")
    results = [] if result is None else [parsed_type(result)]
    op = ir.Operation.create(
        name,
        results=results,
        operands=operands,
        attributes=attributes or {},
        loc=ir.Location.current,
    )
    try:
        op.opview.check()
    except TilecError as error:
        op.erase()
        raise TilecError(f"'{name}' op {error}") from None
    return op.result if results else None


def _indices(values: Sequence[Any]) -> list[Any]:
    type_ = ir.IndexType.get()
    return [_constant(v, type_) if isinstance(v, int) else v for v in values]


def _constant(number: Any, type_: Any) -> Any:
    make = ir.FloatAttr if isinstance(type_, ir.FloatType) else ir.IntegerAttr
    try:
        value = make.get(type_, number)
    except (TypeError, ValueError):
        raise TilecError(f"{number!r} is no constant of type {type_}") from None
    attributes = {"value": value}
    loc = ir.Location.current
    return ir.Operation.create(
        "arith.constant", results=[type_], attributes=attributes, loc=loc
    ).result


def _access(transposed: bool, masked: bool = False, vector: int = 1) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if transposed:
        attributes["transposed"] = ir.UnitAttr.get()
    if masked:
        attributes["masked"] = ir.UnitAttr.get()
    if vector != 1:
        attributes["vector"] = _i64(vector)
    return attributes


def _i64(number: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def _name(given: Form | str) -> Any:
    return ir.StringAttr.get(given if isinstance(given, str) else given.ptx)


def _with(value: Any, *, element: Any = None, layout: Layout | None = None) -> Any:
    """The type of `value` with another element type or layout."""
    tile = tile_of(value, "operand")
    make = tiles.frag_type if tile.is_fragment else tiles.tensor_type
    kept = value.type.layout.maybe_downcast() if tile.is_fragment else value.type.encoding
    text = value_of(kept.text) if layout is None else layout
    return make(tile.shape, tile.element if element is None else parsed_type(element), text)


__all__ = [
    "BuildError",
    "alloc_shared",
    "async_commit",
    "async_copy",
    "async_wait",
    "cast",
    "concat",
    "convert_layout",
    "dot",
    "elementwise",
    "fill",
    "frag_type",
    "index",
    "kernel",
    "ldmatrix",
    "load",
    "mma",
    "module",
    "operand_fragment",
    "operand_tensor",
    "shared_type",
    "slice",
    "stmatrix",
    "store",
    "tensor_type",
]
