"""`tile.inline_asm`, `tile.inline_asm_volatile`: a call for each few elements of a lane."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.assembly import Held
from tilec.dialects.tile.ops import InlineAsmOp, InlineAsmVolatileOp
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.ir.types import integer

from ..fragments.expansion import Expansion, Values
from .rearrangement import repacked
from .registers import Packing, bitcast, elements, packing_of, registers_of

AsmOp = InlineAsmOp | InlineAsmVolatileOp


def assembly(op: AsmOp, expansion: Expansion) -> list[Values]:
    """The registers of each result."""
    registers, pack = op.registers(), op.pack
    packings = [packing_of(value) for value in op.operands]
    calls = -(-packings[0].elements // pack)
    taken = [
        _words(expansion.values(value), packed, held, calls * pack)
        for value, packed, held in zip(op.operands, packings, registers.inputs, strict=True)
    ]
    made: list[Values] = [[] for _ in registers.outputs]
    for number in range(calls):
        given = [
            word
            for words, held in zip(taken, registers.inputs, strict=True)
            for word in words[number * held.registers : (number + 1) * held.registers]
        ]
        found = iter(_call(op, registers.letters, given))
        for words, held in zip(made, registers.outputs, strict=True):
            words += [next(found) for _ in range(held.registers)]
    return [
        _elements_of(words, held, packing_of(result))
        for words, held, result in zip(made, registers.outputs, op.results, strict=True)
    ]


def _words(values: Values, packed: Packing, held: Held, count: int) -> Values:
    """The elements in the words that calls take; the last stands for those that there are not."""
    if packed.elements % held.elements == 0 and packed.elements == count:
        return repacked(values, packed, packed.by(held.elements))
    every = elements(values, packed)
    every += [every[-1]] * (count - len(every))
    return registers_of(every, _packing(packed, held, count))


def _elements_of(words: Values, held: Held, packed: Packing) -> Values:
    """The registers of a result, of what calls gave."""
    count = len(words) * held.elements
    given = _packing(packed, held, count)
    typed = [bitcast(word, given.type) for word in words]
    if count == packed.elements:
        return repacked(typed, given, packed)
    return registers_of(elements(typed, given)[: packed.elements], packed)


def _packing(packed: Packing, held: Held, count: int) -> Packing:
    """How so many elements lie in words."""
    return Packing(packed.element, held.elements, count // held.elements)


def _call(op: AsmOp, letters: Sequence[str], given: Values) -> Values:
    """One call: the words that it gives."""
    outputs = len(letters) - len(given)
    types = [_TYPES[letter]() for letter in letters]
    operands = [bitcast(word, type_) for word, type_ in zip(given, types[outputs:], strict=True)]
    result = types[0] if outputs == 1 else llvm.struct(types[:outputs])
    constraints = ",".join(part.strip() for part in op.constraints.value.split(","))
    effects = isinstance(op, InlineAsmVolatileOp)
    whole = llvm.inline_asm(op.asm.value, constraints, operands, result, effects=effects)
    if outputs == 1:
        return [whole]
    return [llvm.extractvalue(whole, [at], types[at]) for at in range(outputs)]


def _f32() -> Type:
    return ir.F32Type.get()


def _f64() -> Type:
    return ir.F64Type.get()


_TYPES = {
    "h": lambda: integer(16),
    "r": lambda: integer(32),
    "f": _f32,
    "l": lambda: integer(64),
    "d": _f64,
}
"""The type of a register by the letter of its constraint."""
