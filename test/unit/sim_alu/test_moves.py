"""How results move where an operand moves by as much each time, against differences of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import alu
from tilec.sim.alu import Array, Moves
from tilec.sim.widths import DTYPES

DECLARED = [
    (opcode, modifiers, signature)
    for opcode in alu.opcodes()
    for modifiers, signature in alu.forms(opcode)
    if "carry" not in (*signature.results, *signature.operands)
]
INTEGERS = ("u32", "s32", "u64", "s64")


def moves(opcode: str, modifiers: tuple[str, ...], signature: alu.Signature) -> Moves:
    return alu.moves(opcode, modifiers, len(signature.results), len(signature.operands))


def of_type(values: list[int], type_: str) -> Array:
    return np.array(values, DTYPES[1 if type_ == "pred" else alu.bits.width(type_)])


@pytest.mark.parametrize(
    "opcode", sorted({one[0] for one in DECLARED if moves(*one) is Moves.EVENLY})
)
def test_what_moves_evenly_has_equal_differences(opcode: str) -> None:
    """Its first operand goes up by 3 each time, far from where anything wraps around."""
    found = [one for one in DECLARED if one[0] == opcode and moves(*one) is Moves.EVENLY]
    assert found
    for _, modifiers, signature in found:
        operation = alu.resolve(opcode, modifiers, len(signature.results), len(signature.operands))
        if signature.operands[0] == "pred":
            continue  # a condition does not move
        rest = [of_type([1], one) for one in signature.operands[1:]]
        moved = of_type([5, 8, 11, 14], signature.operands[0])
        result = np.asarray(operation(moved, *rest))
        apart = result[1:] - result[:-1]
        assert (apart == apart[0]).all(), (opcode, modifiers)


@pytest.mark.parametrize("opcode", ["setp", "min", "max"])
def test_what_moves_by_comparison(opcode: str) -> None:
    """While the first operand is less it does as before, and once it is more as then."""
    for name, modifiers, signature in DECLARED:
        kind = modifiers[-1]
        if name != opcode or kind not in INTEGERS or len(signature.operands) > 2:
            continue
        assert moves(opcode, modifiers, signature) is Moves.BY_COMPARISON
        operation = alu.resolve(opcode, modifiers, len(signature.results), 2)
        given = operation(of_type([5, 8, 11, 20, 23, 26], kind), of_type([16], kind))
        result = np.asarray(given[0] if len(signature.results) > 1 else given).astype(np.int64)
        for half in (result[:3], result[3:]):
            assert half[1] - half[0] == half[2] - half[1]


@pytest.mark.parametrize(
    ("opcode", "modifiers"),
    [
        *(("and", ("b32",)), ("shr", ("u32",)), ("div", ("u32",)), ("rem", ("u32",))),
        *(("mul", ("hi", "u32")), ("add", ("f32",)), ("cvt", ("rzi", "s32", "f32"))),
    ],
)
def test_what_does_not_is_free(opcode: str, modifiers: tuple[str, ...]) -> None:
    assert alu.moves(opcode, modifiers) is Moves.FREELY
