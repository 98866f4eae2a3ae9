"""A kernel made ready to run: its functions bound block by block, when they are reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilec.isa import TilecError
from tilec.isa.types import TYPE_BITS

from .binding import Binding
from .blocks import EXIT, RETURN, Call, Code, End, Indexed, Where
from .chains import chained
from .control import branch_targets, is_gated
from .errors import LaunchError, PtxError, UnsupportedInstructionError
from .instructions import bind
from .instructions.calls import is_builtin
from .machine import ZEROS
from .placement import Placement
from .ptx.module import Group, Instruction, Module, Name, RegisterRange
from .site import Site

if TYPE_CHECKING:
    from .frames import Frame
    from .machine import Machine, Step


class Program:
    """A kernel on a machine.

    Attributes:
        placement: where its variables lie.
        machine: where it runs.
        module: the PTX text.
        sites: what has been bound, by its offset in the text.
    """

    def __init__(self, placement: Placement, machine: Machine) -> None:
        self.placement = placement
        self.machine = machine
        self.module: Module = placement.module
        self.sites: dict[int, Site] = {}
        self._failed: list[PtxError] = []

    def register(self, range_: RegisterRange) -> tuple[int, int, str]:
        """A new register: slot, bits and type."""
        bits = TYPE_BITS[range_.type]
        if range_.vector != 1 or bits > 64:
            raise LaunchError(f"registers of type .{range_.type} as vectors are not simulated")
        return self.machine.slot(ZEROS[bits]), bits, range_.type

    def place(self, instruction: Instruction) -> str:
        """`file:line (source)` of an instruction."""
        module = self.module
        origin = module.origin(instruction)
        where = f"{module.source.name}:{module.line(instruction)}"
        return f"{where} ({origin})" if origin else where

    def site(self, instruction: Instruction) -> Site:
        """Where an instruction is counted."""
        site = self.sites.get(instruction.position)
        if site is None:
            site = self.sites[instruction.position] = Site(instruction)
        return site

    def unsupported(self, frame: Frame) -> list[PtxError]:
        """What cannot be bound of a function, in the order of its text."""
        before, self._failed = self._failed, []
        for number in range(len(frame.blocks)):
            frame.code(number)
        found, self._failed = self._failed, before
        return found

    def bind(self, frame: Frame, number: int) -> Code:
        """Bind a block; what is not supported becomes a step that says so."""
        block = frame.blocks[number]
        whole = frame.function.body or []
        body = whole[block.first : block.last]
        following = frame.following(block.last)
        if block.gate:
            end = self._gate(frame, whole[block.first], block.successors[0])
            return self._bind(frame, [], end)
        if not body or not _ends(body[-1], self.module):
            return self._bind(frame, body, End(following, following))
        last = body.pop()
        self.site(last)
        try:
            code = self._bind(frame, body, self._end(frame, last, following))
        except UnsupportedInstructionError as error:
            code = self._bind(frame, body, End(RETURN, RETURN))
            code.instructions = [*body, last]
            code.steps.append(self._raising(error))
            code.syncs.append(None)
            return code
        code.last = last
        return code

    def _gate(self, frame: Frame, gated: Instruction, inside: int) -> End:
        """The end of an empty block: to an instruction if its guard holds, or past it."""
        slot = self._guard(frame, gated)
        past = frame.following(frame.blocks[inside].last)
        return End(inside, past, slot, gated.negated)

    def _bind(self, frame: Frame, body: list[Instruction], end: End) -> Code:
        code = Code(frame, body, [], [], end)
        products = sum(instruction.opcode == "mma" for instruction in body)
        deferred = chained(body, frame.uses) if products > 1 else frozenset()
        for index, instruction in enumerate(body):
            binding = Binding(frame, instruction, self.site(instruction))
            binding.deferred = index in deferred
            step = self.step(binding)
            code.steps.append(step)
            code.syncs.append(binding.sync)
            if binding.sync is not None:
                code.has_syncs = True
                code.has_counted |= code.counted(binding.sync)
        return code

    def step(self, binding: Binding) -> Step:
        """What an instruction does, or a step that raises why it does nothing."""
        instruction = binding.instruction
        try:
            step = binding.complete(bind(binding))
            if instruction.guard is not None and not is_gated(instruction):
                slot = self._guard(binding.frame, instruction)
                step = _guarded(self.machine, step, slot, instruction.negated)
        except PtxError as error:
            return self._raising(error)
        except TilecError as error:
            return self._raising(binding.error(str(error)))
        except (IndexError, KeyError, StopIteration, ValueError):
            # Too few operands or qualifiers for whoever unpacks them.
            return self._raising(binding.error(f"malformed '{instruction.mnemonic}'"))
        return step

    def _raising(self, error: PtxError) -> Step:
        """A step that says why an instruction is not executed."""
        self._failed.append(error)

        def step() -> None:
            raise error

        return step

    def _guard(self, frame: Frame, instruction: Instruction) -> int:
        assert instruction.guard is not None
        found = frame.register(instruction.guard, instruction.scope)
        if found is None or found[1] != 1:
            raise frame.error(f"'{instruction.guard}' is no predicate", instruction)
        return found[0]

    def _end(self, frame: Frame, last: Instruction, following: Where) -> End:
        slot = None if last.guard is None else self._guard(frame, last)
        where: Where
        match last.opcode:
            case "bra":
                target = last.operands[0] if last.operands else None
                if not isinstance(target, Name):
                    raise frame.error("'bra' takes a label", last)
                where = frame.label(target.text, last)
            case "brx":
                where = self._indexed(frame, last)
            case "ret":
                where = RETURN
            case "exit":
                where = EXIT
            case _:
                where = self._call(frame, last)
        return End(where, following, slot, last.negated)

    def _indexed(self, frame: Frame, last: Instruction) -> Indexed:
        blocks = [frame.label(name, last) for name in branch_targets(last)]
        numbers = [b for b in blocks if isinstance(b, int)]
        if not numbers or len(numbers) != len(blocks):
            raise frame.error("'brx.idx' takes an index and a .branchtargets list", last)
        index = Binding(frame, last, self.site(last)).source(last.operands[0], "u32")
        return Indexed(index, tuple(numbers))

    def _call(self, frame: Frame, last: Instruction) -> Call:
        target = next((o for o in last.operands if not isinstance(o, Group)), None)
        if not isinstance(target, Name):
            raise frame.error("'call' takes a function", last)
        function = self.placement.function(target.text)
        if function is not None:
            if function.body is None:
                raise frame.error(f"call of '{target}', which has no body", last)
            return Call(frame, last, target.text, None)
        slot = Binding(frame, last, self.site(last)).source(target, "u64")
        return Call(frame, last, "", slot)


def _ends(instruction: Instruction, module: Module) -> bool:
    """Whether an instruction is bound as the end of its block."""
    if instruction.opcode == "call":
        return not is_builtin(instruction, module)
    return instruction.opcode in ("bra", "brx", "ret", "exit")


def _guarded(machine: Machine, step: Step, slot: int, negated: bool) -> Step:
    registers = machine.registers

    def run() -> None:
        predicate = registers[slot]
        if predicate.size == 1:
            if bool(predicate[0, 0, 0]) != negated:
                step()
            return
        mask, merge = machine.mask, machine.merge
        chosen = ~predicate if negated else predicate
        if mask is not None:
            chosen = chosen & mask
        if chosen.any():
            machine.mask = machine.merge = chosen
            step()
            machine.mask, machine.merge = mask, merge

    return run
