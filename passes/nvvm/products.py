"""Matrix products: the call of the instruction."""

from __future__ import annotations

from typing import TypeAlias

from tilec.dialects.tile.ops import MmaOp, MmaScaledOp, MmaSpOp, MmaSpScaledOp, MovmatrixOp
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.isa import form
from tilec.isa.llvm import Value as Argument

from ..fragments.expansion import Expansion, Values
from .lowering import Lowering, llvm_type
from .registers import packing_of

ProductOp: TypeAlias = MmaOp | MmaScaledOp | MmaSpOp | MmaSpScaledOp | MovmatrixOp


class _Product:
    """What the products of one form have in common.

    Attributes:
        call: the call of the instruction.
        selectors: the arguments that are attributes of the op, and their positions.
    """

    def __init__(self, kernel: Lowering, name: str) -> None:
        found = form(name)
        names = {selector.name for selector in found.selectors}
        self.call = kernel.call_of(found)
        self.selectors = [
            (at, value) for at, value in enumerate(self.call.arguments) if value.name in names
        ]


class Products:
    """Lowering of the matrix products of one kernel."""

    def __init__(self, kernel: Lowering) -> None:
        self._kernel = kernel
        self._known: dict[ir.StringAttr, _Product] = {}

    def product(self, op: ProductOp, expansion: Expansion) -> list[Values]:
        """`tile.mma` and its sparse and scaled kin, `tile.movmatrix`."""
        name = op.form
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = _Product(self._kernel, name.value)
        arguments = expansion.all(op.operands)
        for at, selector in known.selectors:
            arguments.insert(at, _constant(op, selector))
        return [self._kernel.call(known.call, arguments, packing_of(op.results[0]).type)]


def _constant(op: ProductOp, selector: Argument) -> Value:
    """A selector, an attribute of the op."""
    number = attribute(op, selector.name, ir.IntegerAttr).value
    return llvm.constant(llvm_type(selector.type), number)
