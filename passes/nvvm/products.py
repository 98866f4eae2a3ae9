"""Matrix products: the call of the instruction."""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir
from tilec.isa import form
from tilec.isa.llvm import Value

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .kernel import Kernel, llvm_type
from .registers import packing_of


class _Product:
    """What the products of one form have in common.

    Attributes:
        call: the call of the instruction.
        selectors: the arguments that are attributes of the op, and their positions.
    """

    def __init__(self, kernel: Kernel, name: str) -> None:
        found = form(name)
        names = {selector.name for selector in found.selectors}
        self.call = kernel.call_of(found)
        self.selectors = [
            (at, value) for at, value in enumerate(self.call.arguments) if value.name in names
        ]


class Products:
    """Lowering of the matrix products of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known: dict[Any, _Product] = {}

    def product(self, op: Any, expansion: Expansion) -> list[Values]:
        """`tile.mma` and its sparse and scaled kin, `tile.movmatrix`."""
        name = op.attributes["form"]
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = _Product(self._kernel, name.value)
        arguments = expansion.all(op.operands)
        for at, selector in known.selectors:
            arguments.insert(at, _constant(op, selector))
        return [self._kernel.call(known.call, arguments, packing_of(op.results[0]).type)]


def _constant(op: Any, selector: Value) -> Any:
    """A selector, an attribute of the op."""
    type_ = llvm_type(selector.type)
    number = int(op.attributes[selector.name].value)
    return create("llvm.mlir.constant", [], type_, value=ir.IntegerAttr.get(type_, number))
