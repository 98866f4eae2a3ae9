"""Lowerings of ops from outside the dialect: how they become fragments, and registers.

An op on tiles whose class declares what it means (`SEMANTICS`) goes through every pass up to
`tile-to-fragments`. There a lowering says what its fragments are:

    @lowers_to_fragments(DoubleOp)
    def double(op: DoubleOp, expansion: Expansion) -> list[Values]:
        each = expansion.values(op.operands[0])
        return [[emit(ElementwiseOp, [v, v], v.type, fn=ADD) for v in each]]

and one of an op on fragments, in `tile-fragments-to-nvvm`, what the registers of each are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .fragments.expansion import Handler

_FRAGMENTS: dict[str, Handler] = {}
_REGISTERS: dict[str, Handler] = {}


def lowers_to_fragments(op: type[ir.OpView]) -> Callable[[Handler], Handler]:
    """Decorates what `tile-to-fragments` does with an op of another dialect.

    Args:
        op: its class. A lowering that was registered for it before is forgotten.

    Raises:
        TilecError: for an op of the tile dialect.
    """
    return _registering(op, _FRAGMENTS)


def lowers_to_registers(op: type[ir.OpView]) -> Callable[[Handler], Handler]:
    """Decorates what `tile-fragments-to-nvvm` does with an op of another dialect.

    Args:
        op: its class. A lowering that was registered for it before is forgotten.

    Raises:
        TilecError: for an op of the tile dialect.
    """
    return _registering(op, _REGISTERS)


def to_fragments() -> Mapping[str, Handler]:
    """The lowerings to fragments, by op name."""
    return _FRAGMENTS


def to_registers() -> Mapping[str, Handler]:
    """The lowerings to registers, by op name."""
    return _REGISTERS


def _registering(op: type[ir.OpView], registry: dict[str, Handler]) -> Callable[[Handler], Handler]:
    name = op.OPERATION_NAME
    if name.startswith("tile."):
        raise TilecError(f"{name} is one of tilec's ops and has its lowering")

    def register(handler: Handler) -> Handler:
        registry[name] = handler
        return handler

    return register
