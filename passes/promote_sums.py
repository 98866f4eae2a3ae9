"""`tile-promote-sums`: products of 8-bit floats are added up in f32 outside matrix instructions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import PROMOTE
from tilec.dialects.tile.ops import DotOp
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import element_of

from .kernel_pass import Kernel, KernelPass

_BITS = 8
"""Of the floats whose sums matrix instructions round to fewer bits than f32 has."""


@dataclass(frozen=True)
class PromoteSums(KernelPass):
    """Start each product of 8-bit floats from zero, and add the results in f32.

    In and out: level 1. Matrix instructions keep fewer bits of a sum of such products than f32
    has (docs/numerics.md); the error grows with K. If a `tile.dot` with 8-bit factors and an
    f32 accumulator has `tile.promote = true`, `a · b + c` becomes `c + (a · b + 0)`: the tile's
    K is the number of products that are summed before they are promoted. This needs the
    registers of two accumulators, and one addition per element. `tile.promote = false` disables
    it for a product.

    Attributes:
        fp8: true promotes all products that do not say.
    """

    name: ClassVar[str] = "tile-promote-sums"

    fp8: bool = False

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for dot in kernel.named(DotOp):
            said = dot.attributes.get(PROMOTE)
            if said is not None:
                del dot.attributes[PROMOTE]
            wanted = said.value if isinstance(said, ir.BoolAttr) else self.fp8
            if not wanted:
                continue
            if not _may_be(dot):
                if said is not None:
                    kernel.missed(dot, "is not promoted: its factors are not 8-bit floats")
                continue
            _promote(dot)
            depth = ir.RankedTensorType(dot.a.type).shape[1]
            kernel.remark(dot, f"begins from zero, and is added in f32 after each {depth} of K")


def _may_be(dot: DotOp) -> bool:
    """Whether a product is of floats of 8 bits, and its sums of f32."""
    factors = [element_of(value.type) for value in (dot.a, dot.b)]
    small = all(isinstance(one, ir.FloatType) and one.width == _BITS for one in factors)
    return small and isinstance(element_of(dot.c.type), ir.F32Type)


def _promote(dot: DotOp) -> None:
    operation = dot.operation
    before = dot.c
    type_ = ir.RankedTensorType(before.type)
    with ir.InsertionPoint(operation), operation.location:
        zero = ir.DenseElementsAttr.get_splat(type_, ir.FloatAttr.get(type_.element_type, 0.0))
        operation.operands[2] = arith.constant(type_, zero)
    with ir.InsertionPoint.after(operation), operation.location:
        total = arith.addf(before, dot.d)
    dot.d.replace_all_uses_except(total, total.owner.operation)
