"""Registers that a function may read before it has written them.

Compilers leave such registers where it does not matter: masked loads, values of paths that are not
taken, accumulators whose first product does not add them. Only of these registers is it noted who
has written them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..alu import Array
from ..binding import Binding
from ..blocks import End, Where
from ..control import Block, blocks
from ..machine import Machine, Step
from ..ptx.module import Address, Function, Instruction, Integer, Name, Operand, operand_names
from ..traits import First, generation, traits
from .state import Taint

Key = tuple[int, str]
"""A register: the scope that declares it, and its name."""


def _first(instruction: Instruction) -> First:
    """What becomes of an instruction's first operand."""
    if not instruction.operands or isinstance(instruction.operands[0], Address):
        return First.SOURCE
    return traits(instruction).first


class _Registers:
    """The registers of a function as bits of numbers."""

    def __init__(self) -> None:
        self.keys: dict[Key, int] = {}
        self._bits: dict[Key, int] = {}

    def bits(self, instruction: Instruction, operands: Iterable[Operand]) -> int:
        """The registers among some operands."""
        found, known, scope = 0, self._bits, id(instruction.scope)
        for operand in operands:
            if type(operand) is Name:  # most are
                bit = known.get((scope, operand.text))
                found |= self.bit(instruction, operand.text) if bit is None else bit
            elif type(operand) is not Integer:
                for name in operand_names((operand,)):
                    found |= self.bit(instruction, name)
        return found

    def bit(self, instruction: Instruction, name: str) -> int:
        """A register; 0 of what is none."""
        here = id(instruction.scope), name
        bit = self._bits.get(here)
        if bit is None:
            declared = instruction.scope.register(name)
            bit = 0
            if declared is not None:
                number = self.keys.setdefault((id(declared[0]), name), len(self.keys))
                bit = 1 << number
            self._bits[here] = bit
        return bit


def may_be_unwritten(function: Function) -> frozenset[Key]:
    """The registers of a function that some path reads before it has written them."""
    body = function.body or []
    found = function.once(blocks, generation())
    registers = _Registers()
    effects = [_effects(registers, instruction) for instruction in body]
    before = _written_before(found, effects)
    suspects = 0
    for block, written in zip(found, before, strict=True):
        known = written
        if block.gate:
            suspects |= registers.bit(body[block.first], body[block.first].guard or "") & ~known
        for reads, writes in effects[block.first : block.last]:
            suspects |= reads & ~known
            known |= writes
    return frozenset(key for key, number in registers.keys.items() if suspects >> number & 1)


def _effects(registers: _Registers, instruction: Instruction) -> tuple[int, int]:
    """The registers that an instruction reads, and those that it writes whatever its guard."""
    operands = instruction.operands
    first = _first(instruction)
    begin = operands[:1]
    reads = registers.bits(instruction, operands[1:] if first is First.RESULT else operands)
    writes = 0 if first is First.SOURCE else registers.bits(instruction, begin)
    if instruction.guard is None:
        return reads, writes
    # Under a guard nothing is sure to be written.
    return reads | registers.bit(instruction, instruction.guard), 0


def _written_before(found: Sequence[Block], effects: Sequence[tuple[int, int]]) -> list[int]:
    """The registers that every path has written at the beginning of each block."""
    everything = -1
    before = [everything] * len(found)
    before[0] = 0
    writes = []
    for block in found:
        all_ = 0
        for _, written in effects[block.first : block.last]:
            all_ |= written
        writes.append(all_)
    changed = True
    while changed:
        changed = False
        for number, block in enumerate(found):
            if before[number] == everything and number:
                continue
            after = before[number] | writes[number]
            for successor in block.successors:
                both = before[successor] & after
                if both != before[successor]:
                    before[successor], changed = both, True
    return [0 if known == everything else known for known in before]


class Unwritten:
    """Has it noted who has written the registers that may be read before.

    Attributes:
        taint: what is undefined.
        followed: gives the step of an instruction that has a flow.
    """

    def __init__(self, taint: Taint, followed: Callable[[Binding], Step]) -> None:
        self.taint = taint
        self.followed = followed
        self._functions: dict[str, frozenset[Key]] = {}

    def _suspects(self, binding: Binding) -> frozenset[Key]:
        function = binding.frame.function
        found = self._functions.get(function.name)
        if found is None:
            found = function.once(may_be_unwritten, generation())
            self._functions[function.name] = found
        return found

    def slot(self, binding: Binding, name: str) -> int | None:
        """The slot of a register, if it may be read before it is written."""
        suspects = self._suspects(binding)
        declared = binding.instruction.scope.register(name) if suspects else None
        if declared is None or (id(declared[0]), name) not in suspects:
            return None
        slot = binding.slot_of(name)
        if slot is not None:
            self.taint.suspect(slot)
        return slot

    def _slots(self, binding: Binding) -> frozenset[int]:
        """The slots of such registers among all that an instruction names."""
        if not self._suspects(binding):
            return frozenset()
        instruction = binding.instruction
        named = set(operand_names(instruction.operands))
        if instruction.guard is not None:
            named.add(instruction.guard)
        slots = (self.slot(binding, name) for name in named)
        return frozenset(slot for slot in slots if slot is not None)

    def noting(self, binding: Binding, step: Step) -> Step:
        """A step that notes what it reads and writes of such registers, if it touches any."""
        instruction = binding.instruction
        slots = self._slots(binding)
        reads = [s for s in dict.fromkeys((*binding.read, *binding.addressed)) if s in slots]
        writes = [s for s in dict.fromkeys(binding.written) if s in slots]
        if not reads and not writes:
            return step
        taint, product = self.taint, binding.product
        adds: Callable[[], bool] | None = None
        added: list[int] = []
        if product is not None:
            from ..warpgroup_product import Warpgroup  # noqa: PLC0415 (few kernels have any)

            assert isinstance(product, Warpgroup)
            # Whether C is read, it says when it is executed.
            adds = product.any_reads_c
            added = [slot for slot in reads if slot in writes]
            reads = [slot for slot in reads if slot not in writes]

        def run() -> None:
            if not taint.active and (
                taint.unwritten(reads) or (adds is not None and adds() and taint.unwritten(added))
            ):
                taint.start(instruction)
            step()
            if not taint.active:
                taint.writes(writes)

        return run

    def noting_guard(self, binding: Binding, step: Step) -> Step:
        """A step under a guard that notes that it reads that."""
        name = binding.instruction.guard
        slot = None if name is None else self.slot(binding, name)
        if slot is None:
            return step
        taint, slots = self.taint, (slot,)

        def run() -> None:
            if taint.active or not taint.unwritten(slots):
                step()
                return
            taint.start(None)
            self.followed(binding)()

        return run

    def noting_end(self, binding: Binding, end: End) -> End:
        """The end of a block that notes that it reads what decides about it."""
        slots = self._slots(binding)
        noted = tuple(slot for slot in end.read if slot in slots)
        if not noted:
            return end
        return NotingEnd(
            end.where, end.otherwise, end.slot, end.negated, end.by, taint=self.taint, noted=noted
        )


@dataclass(slots=True, kw_only=True)
class NotingEnd(End):
    """The end of a block by registers that may not have been written."""

    taint: Taint
    noted: tuple[int, ...]

    def next(self, machine: Machine) -> Where | list[tuple[Array | None, Where]]:
        """As `End.next`."""
        assert self.by is not None
        if not self.taint.active and self.taint.unwritten(self.noted):
            self.taint.start(None)
            self.taint.harm_by(self.by, self.noted, "branches by")
        return End.next(self, machine)
