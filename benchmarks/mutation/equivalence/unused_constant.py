"""Equivalent, since the constant is replaced wherever it would be used.

    mov.b32 %r1, 0;                 // left out
    @%p1 ld.global.b32 %r1, [...];
    selp.f32 %r33, %r1, ..., %p20;  // the only use

Z3 proves that the second predicate implies the first, for every thread, and for all parameters
that are not negative: extents are not. Only what the predicates are computed from is read, straight
code in which each register is written once; anything else stands for any value.
"""

from __future__ import annotations

import re
from typing import Any

from ..kernels import Kernel
from ..operators import Mutant
from .text import Instruction, instructions

_THREADS = re.compile(r"^\s*\.(?:maxntid|reqntid) (\d+)", re.MULTILINE)


def proves(kernel: Kernel, ptx: str, mutant: Mutant) -> bool:
    """Whether no thread selects the constant that is left out."""
    del kernel
    program = instructions(ptx)
    at = next((n for n, one in enumerate(program) if one.line == mutant.line), None)
    if mutant.operator != "no constant" or at is None or at + 1 == len(program):
        return False
    register = program[at].operands[0]
    load = program[at + 1]
    uses = [one for one in program[at + 2 :] if register in one.registers]
    earlier = any(register in one.registers for one in program[:at])
    loads = load.opcode.startswith("ld.") and load.operands[0] == register
    if earlier or not loads or not load.guard.startswith("%") or not uses:
        return False
    if not all(_selects(one, register) for one in uses):
        return False
    threads = _THREADS.search(ptx)
    return _Implications(program, int(threads[1]) if threads else 1024).hold(
        [one.operands[3] for one in uses], load.guard
    )


def _selects(one: Instruction, register: str) -> bool:
    """Whether it uses a register only where a predicate holds."""
    destination, first, *others = one.operands
    selects = one.opcode.startswith("selp.") and not one.guard and len(others) == 2
    return selects and first == register and register not in {destination, *others}


class _Implications:
    """Predicates of a kernel as formulas."""

    def __init__(self, program: list[Instruction], threads: int) -> None:
        import z3

        self.z3 = z3
        self.program = program
        self.threads = threads
        self.known: dict[str, Any] = {}
        self.solver = z3.Solver()

    def hold(self, predicates: list[str], implied: str) -> bool:
        """Whether each of some predicates implies another."""
        z3 = self.z3
        left = z3.Or(*(self._predicate(one) for one in predicates))
        self.solver.add(left, z3.Not(self._predicate(implied)))
        return bool(self.solver.check() == z3.unsat)

    def _predicate(self, name: str) -> Any:
        found = self._of(name, 0)
        return found if self.z3.is_bool(found) else self.z3.FreshBool()

    def _of(self, text: str, width: int) -> Any:
        """An operand: of a width in bits, or a predicate for 0."""
        z3 = self.z3
        if not text.startswith("%"):
            return z3.BitVecVal(int(text, 0), width)
        if text not in self.known:
            writers = [one for one in self.program if text in one.may_write]
            made = self._made(writers[0]) if len(writers) == 1 and not writers[0].guard else None
            if made is None and text.startswith("%p"):
                made = z3.FreshBool()
            self.known[text] = z3.FreshConst(z3.BitVecSort(width)) if made is None else made
        found = self.known[text]
        if not z3.is_bool(found) and found.size() != width:
            return z3.FreshConst(z3.BitVecSort(width))
        return found

    def _made(self, one: Instruction) -> Any:
        """What an instruction computes; None where that is not known."""
        z3 = self.z3
        kind, *modifiers = one.opcode.split(".")
        type_ = modifiers[-1]
        width = int(type_[1:]) if type_[1:].isdigit() else 0
        sources = one.operands[1:]
        signed = type_.startswith("s")
        if kind == "mov" and sources[0] in {"%tid.x", "%ctaid.x"}:
            found = z3.BitVec(sources[0], 32)
            most = self.threads if sources[0] == "%tid.x" else 0x7FFFFFFF
            self.solver.add(z3.ULT(found, most))
            return found
        if kind == "ld" and modifiers[0] == "param" and width == 64:
            found = z3.BitVec(sources[0], 64)
            self.solver.add(found >= 0)
            return found
        if kind == "cvt" and [m[0] for m in modifiers] == ["u", "u"]:
            after, before = (int(m[1:]) for m in modifiers)
            value = self._of(sources[0], before)
            if after <= before:
                return z3.Extract(after - 1, 0, value)
            return z3.ZeroExt(after - before, value)
        if not width or (kind == "setp" and len(modifiers) != 2):
            return None
        if kind == "selp":
            first, second = (self._of(source, width) for source in sources[:2])
            return z3.If(self._predicate(sources[2]), first, second)
        if kind not in {"setp", "sub", "add", "or", "and", "min", "max"} or len(sources) != 2:
            return None
        if len(modifiers) != (2 if kind == "setp" else 1):
            return None
        a, b = (self._of(source, width) for source in sources)
        less = a < b if signed else z3.ULT(a, b)
        if kind == "setp":
            return {
                "lt": less,
                "ge": z3.Not(less),
                "gt": b < a if signed else z3.ULT(b, a),
                "le": z3.Not(b < a if signed else z3.ULT(b, a)),
                "eq": a == b,
                "ne": a != b,
            }.get(modifiers[0])
        return {
            "sub": a - b,
            "add": a + b,
            "or": a | b,
            "and": a & b,
            "min": z3.If(less, a, b),
            "max": z3.If(less, b, a),
        }[kind]
