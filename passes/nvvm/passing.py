"""Fragments that go through an instruction's assembly, which waits for them or orders them."""

from __future__ import annotations

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.ir.types import i32

from ..fragments.expansion import Expansion, Values


def passed(code: str, op: ir.OpView, expansion: Expansion) -> list[Values]:
    """What an op gives back of the fragments that it takes, through the assembly of both."""
    groups = [expansion.values(value) for value in op.operands]
    left = iter(_through(code, [register for group in groups for register in group]))
    return [[next(left) for _ in group] for group in groups]


def _through(code: str, registers: Values) -> Values:
    """The registers as an instruction leaves them that LLVM shall take to change all of them."""
    if not registers:
        llvm.inline_asm(code, "~{memory}", [], None)
        return []
    types = [register.type for register in registers]
    words = [r if isinstance(r.type, ir.F32Type) else _word(r) for r in registers]
    letters = ["f" if isinstance(word.type, ir.F32Type) else "r" for word in words]
    constraints = [f"={letter}" for letter in letters]
    constraints += [str(number) for number in range(len(words))]
    constraints.append("~{memory}")
    kinds = [word.type for word in words]
    if len(kinds) == 1:
        found: Values = [llvm.inline_asm(code, ",".join(constraints), words, kinds[0])]
    else:
        whole = llvm.inline_asm(code, ",".join(constraints), words, llvm.struct(kinds))
        places = [ir.DenseI64ArrayAttr.get([at]) for at in range(len(kinds))]
        found = list(llvm.extract_fields(whole, places, kinds))
    return [
        value if value.type == type_ else llvm.bitcast(value, type_)
        for value, type_ in zip(found, types, strict=True)
    ]


def _word(register: Value) -> Value:
    """A register as an i32."""
    return register if register.type == i32() else llvm.bitcast(register, i32())
