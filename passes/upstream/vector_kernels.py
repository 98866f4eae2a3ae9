"""A kernel on vectors as one on tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilec.dialects.tile.casts import CASTS
from tilec.dialects.tile.ops.elementwise import COMPARISONS, ELEMENTWISE
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.visits import visit
from tilec.isa import TilecError

from ..kernel_pass import Kernel
from .vector_memory import TRANSFERS
from .vector_ops import REDUCTIONS_AND_VIEWS
from .vector_products import PRODUCTS
from .vector_types import is_vector, tile_type

_ELEMENTWISE = frozenset({*ELEMENTWISE, *COMPARISONS, *CASTS, "arith.select"})
_CONTROL = frozenset({"scf.condition", "scf.for", "scf.if", "scf.while", "scf.yield"})
_CONVERSIONS: Mapping[str, Callable[[ir.Operation], Value | None]] = {
    **TRANSFERS,
    **PRODUCTS,
    **REDUCTIONS_AND_VIEWS,
}


def convert_kernel(kernel: Kernel) -> None:
    """Rewrite the vectors of a kernel as tiles; one with errors is left half rewritten."""
    kept: list[ir.Operation] = []
    for op in _on_vectors(kernel.function.operation):
        if any(map(is_vector, op.operands)):
            continue  # what gives them has been found wrong
        with kernel.at(op):
            kept += _convert(op)
    for op in reversed(kept):
        if all(next(iter(result.uses), None) is None for result in op.results):
            op.erase()


def _on_vectors(function: ir.Operation) -> list[ir.Operation]:
    """The ops of a function that have to do with vectors, a parent before what it holds."""
    found: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        values = (*op.operands, *op.results, *_arguments(op))
        if op.name.startswith("vector.") or any(map(is_vector, values)):
            found.append(op)
        return ir.WalkResult.ADVANCE

    visit(function, look, ir.WalkOrder.PRE_ORDER)
    return found


def _arguments(op: ir.Operation) -> list[ir.BlockArgument]:
    """The arguments of the blocks of an op."""
    return [a for region in op.regions for block in region for a in block.arguments]


def _convert(op: ir.Operation) -> list[ir.Operation]:
    """Rewrite an op whose operands have been; the op, if it stays and has no effects."""
    for value in (*op.results, *_arguments(op)):
        if isinstance(value.type, ir.VectorType):
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
            "on vectors has no counterpart on tiles; legal: elementwise ops, casts and comparisons "
            "of "
            f"arith and math, scf.for, scf.if, scf.while, {', '.join(sorted(_CONVERSIONS))}"
        )
    return [op]


def _splat(op: ir.Operation) -> None:
    """Rewrite the value of a constant, whose type has been."""
    value = op.attributes["value"]
    if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
        raise TilecError("is not a splat; a constant tile has one value")
    splat = ir.DenseElementsAttr.get_splat(op.results[0].type, value.get_splat_value())
    op.attributes["value"] = splat
