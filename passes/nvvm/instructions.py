"""Instructions of `tilec.isa.instructions` as inline assembly, written as the table says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.ir.types import i64

if TYPE_CHECKING:
    from tilec.isa.instructions import Instruction


def emit_instruction(
    mnemonic: str,
    operands: Mapping[str, Value],
    result: tuple[str, Type] | None = None,
    predicate: Value | None = None,
    numbers: Mapping[str, int] | None = None,
    written: str | None = None,
) -> Value | None:
    """Emit an instruction that touches memory; its result, if one is asked for.

    Args:
        mnemonic: its key.
        operands: what it reads, by the names that the table has for them.
        result: the name and type of the result that is wanted; any other is left out.
        predicate: an i1 that guards an instruction of which no result is wanted.
        numbers: operands that are constants.
        written: all operands, where the table's are not all.
    """
    found = _found(mnemonic)
    if written is not None:
        found = replace(found, operands=written)
    places = dict.fromkeys(found.results, "_")
    places |= {name: str(number) for name, number in (numbers or {}).items()}
    first = 0 if result is None else 1
    if result is not None:
        places[result[0]] = "$0"
    places |= {name: f"${at}" for at, name in enumerate(operands, first)}
    letters = [_letter(value.type) for value in operands.values()]
    if result is None:
        guards = [] if predicate is None else [predicate]
        constraints = ",".join((*letters, *("b" for _ in guards), "~{memory}"))
        code = f"@${len(operands)} " * len(guards) + found.text(places)
        llvm.inline_asm(code, constraints, [*operands.values(), *guards], None)
        return None
    constraints = ",".join((f"={_letter(result[1])}", *letters, "~{memory}"))
    return llvm.inline_asm(found.text(places), constraints, list(operands.values()), result[1])


def written(mnemonic: str, **numbers: int) -> str:
    """An instruction that takes no registers, in PTX."""
    return _found(mnemonic).text({name: str(n) for name, n in numbers.items()})


def _found(mnemonic: str) -> Instruction:
    from tilec.isa.instructions import instructions  # noqa: PLC0415 (for Hopper only)

    return instructions()[mnemonic]


def _letter(type_: Type) -> str:
    """The constraint of a register of a type."""
    if isinstance(type_, ir.IntegerType) and type_.width == 1:
        return "b"
    if isinstance(type_, ir.IntegerType) and type_.width == 16:
        return "h"
    return "l" if type_ == i64() or not isinstance(type_, ir.IntegerType) else "r"
