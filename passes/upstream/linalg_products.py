"""What a kernel written in linalg computes: one product of matrices in memory."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.ops.base import memory
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..report import Report
from .contractions import contraction, indexing_maps
from .memory_product import MemoryProduct
from .multiply_add import unsigned_inputs
from .outline_functions import outermost
from .product_elements import TF32, product_elements
from .upstream_views import AFFINE, VIEWS

_PRODUCTS = ("linalg.matmul", "linalg.batch_matmul", "linalg.contract", "linalg.generic")
_LEGAL = ", ".join(_PRODUCTS)
_VIEWS = frozenset(f"memref.{name}" for name in ("assume_alignment", "cast", "reinterpret_cast"))
_BESIDE = frozenset({"gpu.return", "memref.dim"}) | _VIEWS | VIEWS | AFFINE


class LinalgKernel(NamedTuple):
    """The ops of linalg's in a kernel.

    Attributes:
        product: that multiplies.
        fills: that set its result before.
    """

    product: ir.Operation
    fills: tuple[ir.Operation, ...]


def linalg_kernel(function: Op) -> LinalgKernel:
    """The product that a kernel consists of.

    Raises:
        PassError: for ops that do not belong to it, or if there is none.
    """
    product: ir.Operation | None = None
    fills: list[ir.Operation] = []
    report = Report()
    for op in outermost(function, lambda inner: inner != function.operation):
        if message := _misplaced(op, product):
            report.error(op, message)
        elif op.name == "linalg.fill":
            fills.append(op)
        elif op.name.startswith("linalg."):
            product = op
    if product is None and not report.errors:
        report.error(fills[0], f"fills the result of no product; legal: {_LEGAL}")
    report.raise_errors()
    assert product is not None
    return LinalgKernel(product, tuple(fills))


def _misplaced(op: ir.Operation, product: ir.Operation | None) -> str:
    """Why an op may not stand in a kernel after `product`, or before any if that is None."""
    if op.name == "linalg.fill":
        return "follows the product; legal: before it" if product else ""
    if op.name.startswith("linalg."):
        return (
            "is the second in its kernel, whose CTAs do not wait for each other; put each "
            "into a separate kernel"
            if product
            else ""
        )
    if op.name.startswith("arith.") or op.name in _BESIDE:
        return ""
    return (
        "is in a kernel with a linalg op; other legal ops are: linalg.fill of its result "
        "before it, arith ops, affine ops on indices, views of memrefs"
    )


def memory_product(kernel: LinalgKernel) -> MemoryProduct:
    """What the ops of a kernel compute.

    Raises:
        TilecError: if that is not a product of matrices in memory, or one that no instruction does.
    """
    op = kernel.product
    if op.name not in _PRODUCTS:
        raise TilecError(f"is not known to multiply matrices; legal: {_LEGAL}")
    for value in op.operands:
        if isinstance(value.type, ir.RankedTensorType):
            raise TilecError(
                f"works on tensors, {value.type}; a kernel works on memrefs: bufferize the "
                "program first (one-shot-bufferize)"
            )
    found = contraction(indexing_maps(op))
    *inputs, result = op.operands
    *elements, total = op.regions[0].blocks[0].arguments
    unsigned = unsigned_inputs(elements, total, _yielded(op))
    order = found.left, 1 - found.left
    memrefs = inputs[order[0]], inputs[order[1]], result
    a, b, c = (memory(value, "operand").element_type for value in memrefs)
    return MemoryProduct(
        memrefs,
        found,
        product_elements(a, b, c, tf32=TF32 in op.attributes),
        (unsigned[order[0]], unsigned[order[1]]),
        _initial(kernel),
    )


def _yielded(op: ir.Operation) -> Value:
    """What the body of an op of linalg's yields."""
    (end,) = outermost(op, lambda inner: inner.name == "linalg.yield")
    return end.operands[0]


def _initial(kernel: LinalgKernel) -> Value | None:
    """The scalar that the result is filled with, or None."""
    scalar = None
    result = kernel.product.operands[2]
    for fill in kernel.fills:
        scalar, filled = fill.operands
        if filled != result:
            raise TilecError("follows a linalg.fill of a value other than its result")
    return scalar
