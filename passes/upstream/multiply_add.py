"""The body of a contraction of linalg's: a product that is added to the result."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError

_WIDENING = ("arith.extf", "arith.extsi", "arith.extui")
_LEGAL = (
    "legal: the product of both inputs, each perhaps widened to the result's type by arith.extf, "
    "arith.extsi or arith.extui, added to the result"
)


def unsigned_inputs(inputs: Sequence[Value], result: Value, yielded: Value) -> tuple[bool, bool]:
    """Which of the two inputs of a contraction are integers without a sign.

    Args:
        inputs: of the body, the arguments that are elements of the inputs.
        result: the argument that is the result's element.
        yielded: what the body makes of it.

    Raises:
        TilecError: if that is not a product added to the result.
    """
    factors: dict[Value, bool] = {}
    addend = _other(_operands(yielded, "arith.addf", "arith.addi"), result)
    for factor in _operands(addend, "arith.mulf", "arith.muli"):
        source, unsigned = _widened(factor)
        factors[source] = unsigned
    left, right = inputs
    if set(factors) != {left, right}:
        raise TilecError(f"does not multiply its inputs; {_LEGAL}")
    return factors[left], factors[right]


def _operands(value: Value, *names: str) -> list[Value]:
    """The operands of the op that gives `value`, which must have one of these names."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        raise TilecError(f"yields an argument of its body; {_LEGAL}")
    if owner.name not in names:
        raise TilecError(f"computes '{owner.name}' instead of {' or '.join(names)}; {_LEGAL}")
    return list(owner.operands)


def _other(pair: list[Value], one: Value) -> Value:
    """The one of two values that is not `one`."""
    if one not in pair:
        raise TilecError(f"does not add to its result; {_LEGAL}")
    return pair[1] if pair[0] == one else pair[0]


def _widened(factor: Value) -> tuple[Value, bool]:
    """The input that a factor is, and whether it is widened as an integer without a sign."""
    owner = factor.owner
    if isinstance(owner, ir.Block):
        return factor, False
    if owner.name not in _WIDENING:
        raise TilecError(f"multiplies what '{owner.name}' gives; {_LEGAL}")
    return owner.operands[0], owner.name == "arith.extui"
