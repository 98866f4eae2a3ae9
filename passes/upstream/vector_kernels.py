"""A kernel on vectors as one on tiles."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.casts import CASTS
from tilec.dialects.tile.ops.elementwise import COMPARISONS, ELEMENTWISE
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..base import Diagnostic
from .vector_memory import TRANSFERS
from .vector_ops import REDUCTIONS_AND_VIEWS
from .vector_products import PRODUCTS
from .vector_types import is_vector, tile_type

_ELEMENTWISE = frozenset({*ELEMENTWISE, *COMPARISONS, *CASTS, "arith.select"})
_CONTROL = frozenset({"scf.condition", "scf.for", "scf.if", "scf.while", "scf.yield"})
_CONVERSIONS = {**TRANSFERS, **PRODUCTS, **REDUCTIONS_AND_VIEWS}


def convert_kernel(function: Any) -> list[Diagnostic]:
    """Rewrite the vectors of a kernel as tiles.

    Args:
        function: a `gpu.func`.

    Returns:
        What is wrong with it; then it is left half rewritten.
    """
    errors: list[Diagnostic] = []
    kept: list[Any] = []
    for op in _on_vectors(function):
        if any(map(is_vector, op.operands)):
            continue  # what gives them has been found wrong
        try:
            with op.location:
                kept += _convert(op)
        except TilecError as error:
            errors.append(Diagnostic(op.location, f"'{op.name}' op {error}"))
    for op in reversed(kept):
        if all(next(iter(result.uses), None) is None for result in op.results):
            op.erase()
    return errors


def _on_vectors(function: Any) -> list[Any]:
    """The ops of a function that have to do with vectors, a parent before what it holds."""
    found: list[Any] = []

    def look(op: Any) -> Any:
        values = (*op.operands, *op.results, *_arguments(op))
        if op.name.startswith("vector.") or any(map(is_vector, values)):
            found.append(op)
        return ir.WalkResult.ADVANCE

    function.operation.walk(look, ir.WalkOrder.PRE_ORDER)
    return found


def _arguments(op: Any) -> list[Any]:
    """The arguments of the blocks of an op."""
    return [a for region in op.regions for block in region for a in block.arguments]


def _convert(op: Any) -> list[Any]:
    """Rewrite an op whose operands have been; the op, if it stays and has no effects."""
    for value in (*op.results, *_arguments(op)):
        if is_vector(value):
            value.set_type(tile_type(value.type))
    if op.name in _CONVERSIONS:
        with ir.InsertionPoint(op):
            result = _CONVERSIONS[op.name](op)
        if result is not None:
            op.results[0].replace_all_uses_with(result)
        op.erase()
        return []
    if op.name in _CONTROL:
        return []
    if op.name == "arith.constant":
        _splat(op)
    elif op.name not in _ELEMENTWISE:
        raise TilecError(
            "on vectors has no like on tiles; legal: elementwise ops, casts and comparisons of "
            f"arith and math, scf.for, scf.if, scf.while, {', '.join(sorted(_CONVERSIONS))}"
        )
    return [op]


def _splat(op: Any) -> None:
    """Rewrite the value of a constant, whose type has been."""
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        raise TilecError("is no splat; a constant tile has one value")
    splat = ir.DenseElementsAttr.get_splat(op.results[0].type, value.get_splat_value())
    op.attributes["value"] = splat
