"""Instructions that compute on registers alone, as `tilec.sim.alu` defines them."""

from __future__ import annotations

from .. import alu
from ..alu import Operation
from ..binding import Binding
from ..machine import Machine, Step
from ..native.computes import Computes
from ..ptx.module import Instruction, Operand, Pair
from ..taint.flows import Finder, add, compare, convert, decide, half_or_whole, move, select
from ..traits import Unit, declare_unit

_FLOWS: dict[str, Finder] = {
    "brev": move(),
    **dict.fromkeys(("shl", "shr"), move(2)),
    **dict.fromkeys(("shf", "prmt"), move(3)),
    "bfe": move(2, 3),
    "bfi": move(3, 4),
    **dict.fromkeys(("selp", "slct"), select),
    **dict.fromkeys(("and", "or", "xor", "not", "lop3"), decide),
    **dict.fromkeys(("add", "sub"), add),
    "cvt": convert,
    "setp": compare,
}
"""How undefined bits go through an opcode; of others, one makes all of the result undefined."""


def _unit(found: Instruction) -> Unit:
    """Rounded quotients and roots begin with an approximation; integers and f64 do without."""
    exact = found.opcode == "div" and not {"approx", "full"} & set(found.modifiers)
    return Unit.ARITHMETIC if exact else Unit.SPECIAL


for _opcode in alu.approximated():
    declare_unit(_opcode, _unit)


def bind(binding: Binding) -> Step:
    """The step of an arithmetic instruction."""
    instruction = binding.instruction
    if not binding.operands:
        raise binding.error(f"unsupported instruction '{instruction.mnemonic}'")
    first, *sources = binding.operands
    written = [first.first, first.second] if isinstance(first, Pair) else [first]
    spelling = (instruction.opcode, instruction.modifiers, len(written), len(sources))
    types = alu.signature(*spelling)
    operation = binding.machine.resolve(*spelling)
    slots = _sources(binding, sources, types.operands)
    # The condition code is a register of the function that has no name.
    carried = "carry" in types.results
    kinds = [t for t in types.results if t != "carry"]
    targets = [binding.target(o, t) for o, t in zip(written, kinds, strict=True)]
    if carried:
        targets.append(binding.frame.carry)
        binding.written.append(binding.frame.carry)
    chosen = alu.qualifiers(*spelling)
    binding.computes = Computes(
        instruction.opcode, chosen, types.results, tuple(targets), types.operands, tuple(slots)
    )
    if len(targets) == 1:
        return _single(binding.machine, operation, targets[0], slots)
    return _several(binding.machine, operation, targets, slots)


def flow(found: Instruction) -> Finder:
    """How undefined bits go through an arithmetic instruction."""
    return _FLOWS.get(found.opcode, half_or_whole)


def _sources(binding: Binding, sources: list[Operand], types: tuple[str, ...]) -> list[int]:
    explicit = [t for t in types if t != "carry"]
    slots = [binding.source(o, t) for o, t in zip(sources, explicit, strict=True)]
    if "carry" in types:
        slots.append(binding.frame.carry)
        binding.read.append(binding.frame.carry)
    return slots


def _single(machine: Machine, operation: Operation, target: int | None, slots: list[int]) -> Step:
    registers, write = machine.registers, machine.write
    if target is None:
        return lambda: None
    if len(slots) == 1:
        (a,) = slots
        return lambda: write(target, operation(registers[a]))
    if len(slots) == 2:
        a, b = slots
        return lambda: write(target, operation(registers[a], registers[b]))
    if len(slots) == 3:
        a, b, c = slots
        return lambda: write(target, operation(registers[a], registers[b], registers[c]))
    return lambda: write(target, operation(*[registers[s] for s in slots]))


def _several(
    machine: Machine, operation: Operation, targets: list[int | None], slots: list[int]
) -> Step:
    registers, write = machine.registers, machine.write

    def step() -> None:
        results = operation(*[registers[s] for s in slots])
        for target, result in zip(targets, results, strict=True):
            if target is not None:
                write(target, result)

    return step
