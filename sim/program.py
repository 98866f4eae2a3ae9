"""A module made ready to run: variables placed, functions bound block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import TilecError

from .alu import Array
from .binding import Binding
from .control import branch_targets, is_gated
from .errors import LaunchError, PtxError, UnsupportedInstructionError
from .frames import EXIT, RETURN, Call, Code, End, Frame, Indexed, Where
from .instructions import bind
from .instructions.calls import is_builtin
from .machine import ZEROS
from .memory import FUNCTION_BASE, SHARED_WINDOW
from .ptx.module import (
    TYPE_BITS,
    Address,
    Function,
    Group,
    Instruction,
    Integer,
    Module,
    Name,
    Operand,
    RegisterRange,
    Symbol,
    Variable,
    Vector,
)
from .site import Site

if TYPE_CHECKING:
    from .machine import Machine, Step


_ORDERS = frozenset(("volatile", "relaxed", "acquire"))


class Program:
    """A kernel of a module on a machine.

    Attributes:
        module: the PTX text.
        kernel: the kernel.
        machine: where it runs.
        sites: what has been bound, by instruction.
        shared_bytes: shared memory that the kernel declares.
    """

    def __init__(self, module: Module, kernel: Function, machine: Machine, dynamic: int) -> None:
        self.module = module
        self.kernel = kernel
        self.machine = machine
        self.sites: dict[int, Site] = {}
        self._addresses: dict[str, tuple[str, int]] = {}
        self._shared: dict[Variable, int] = {}
        self._functions = list(module.functions)
        self._failed: list[PtxError] = []
        self.shared_bytes = 0
        self._place_shared(dynamic)
        self._place_global()

    # Placing variables

    def reachable(self) -> Iterator[Function]:
        """The kernel and every function whose name occurs in what is reachable."""
        todo, seen = [self.kernel.name], {self.kernel.name}
        while todo:
            function = self.function(todo.pop())
            if function is None:
                continue
            yield function
            for name in _names(function):
                if name in self.module.functions and name not in seen:
                    seen.add(name)
                    todo.append(name)

    def _place_shared(self, dynamic: int) -> None:
        functions = list(self.reachable())
        used = {name for function in functions for name in _names(function)}
        variables = [
            v for n, v in self.module.variables.items() if v.space == "shared" and n in used
        ]
        for function in functions:
            scopes = {id(i.scope): i.scope for i in function.body or ()}
            seen: set[int] = set()
            for scope in scopes.values():
                for one in scope.chain():
                    if id(one) not in seen:
                        seen.add(id(one))
                        variables += [v for v in one.variables.values() if v.space == "shared"]
        end = 0
        for variable in variables:
            if not variable.open_ended and variable.size:
                end = -(-end // variable.align) * variable.align
                self._shared[variable] = end
                end += variable.size
        opened = [v for v in variables if v.open_ended or not v.size]
        start = end
        for variable in opened:
            start = -(-start // variable.align) * variable.align
        for variable in opened:
            self._shared[variable] = start
        self.shared_bytes = (start if opened or dynamic else end) + dynamic

    def _place_global(self) -> None:
        """Give module variables their addresses, then their initial values."""
        module, memory = self.module, self.machine.memory
        contents: list[tuple[Variable, Array]] = []
        for name, variable in module.variables.items():
            if variable.space == "shared":
                if variable in self._shared:
                    self._addresses[name] = ("shared", self._shared[variable])
                continue
            data = np.zeros(variable.size, np.uint8)
            address = memory.allocate(
                f"variable '{name}'", variable.size, data=data, writable=variable.space != "const"
            )
            self._addresses[name] = ("global", address)
            contents.append((variable, data))
        for variable, data in contents:
            step = max(TYPE_BITS[variable.type] // 8, 1)
            values = [self._initial(v, variable) for v in variable.values]
            packed = b"".join((v % (1 << (8 * step))).to_bytes(step, "little") for v in values)
            data[: len(packed)] = np.frombuffer(packed, np.uint8)

    def _initial(self, value: int | Symbol, variable: Variable) -> int:
        if isinstance(value, int):
            return value
        address = self._addresses.get(value.name)
        if address is not None:
            window = SHARED_WINDOW if value.generic and address[0] == "shared" else 0
            return address[1] + window + value.offset
        function = self.function_address(value.name)
        if function is None:
            self.module.source.fail(
                f"initial value names '{value.name}', which is nowhere", variable.position
            )
        return function

    def parameters(self, buffer: Array, offsets: dict[str, int]) -> None:
        """Place the kernel's parameters; `buffer` holds their bytes."""
        address = self.machine.memory.allocate(
            "parameters", buffer.size, data=buffer, writable=False
        )
        for name, offset in offsets.items():
            self._addresses[name] = ("global", address + offset)

    # Names

    def address(self, name: str) -> tuple[str, int] | None:
        """State space and address of a variable of the module or a kernel parameter."""
        return self._addresses.get(name)

    def variable(self, variable: Variable) -> tuple[str, int]:
        """State space and address of a variable declared in a function's body."""
        if variable.space == "shared":
            return "shared", self._shared[variable]
        raise LaunchError(f"variable '{variable.name}' of .{variable.space} inside a function")

    def register(self, range_: RegisterRange) -> tuple[int, int, str]:
        """A new register: slot, bits and type."""
        bits = TYPE_BITS[range_.type]
        if range_.vector != 1 or bits > 64:
            raise LaunchError(f"registers of type .{range_.type} as vectors are not simulated")
        return self.machine.slot(ZEROS[bits]), bits, range_.type

    def function(self, name: str) -> Function | None:
        """A function by its name or alias."""
        name = self.module.aliases.get(name, name)
        return self.module.functions.get(name)

    def function_address(self, name: str) -> int | None:
        """The address of a function; None if there is none of that name."""
        name = self.module.aliases.get(name, name)
        if name not in self.module.functions:
            return None
        return FUNCTION_BASE + 16 * self._functions.index(name)

    def function_at(self, address: int) -> str | None:
        """The function at an address."""
        index, rest = divmod(address - FUNCTION_BASE, 16)
        return self._functions[index] if rest == 0 and 0 <= index < len(self._functions) else None

    def place(self, instruction: Instruction) -> str:
        """`file:line (source)` of an instruction."""
        module = self.module
        origin = module.origin(instruction)
        where = f"{module.source.name}:{module.line(instruction)}"
        return f"{where} ({origin})" if origin else where

    # Binding

    def site(self, instruction: Instruction) -> Site:
        """Where an instruction is counted."""
        site = self.sites.get(instruction.position)
        if site is None:
            site = self.sites[instruction.position] = Site(instruction)
        return site

    def site_at(self, position: int) -> Site:
        """The site of the instruction at an offset of the text."""
        return self.sites[position]

    def waits_for_ctas(self) -> bool:
        """Whether the kernel may wait for other CTAs (see `residency`)."""
        for function in self.reachable():
            for instruction in function.body or ():
                words = instruction.modifiers
                if any(w.startswith("shared") for w in words):
                    continue
                if instruction.opcode == "ld" and _ORDERS.intersection(words):
                    return True
                if instruction.opcode == "atom" and "cas" in words:
                    return True
        return False

    def shared_granule(self) -> int:
        """The smallest access to shared memory that the kernel may make, in bytes, at most 16."""
        smallest = 16
        for function in self.reachable():
            for instruction in function.body or ():
                smallest = min(smallest, _shared_size(instruction))
        return smallest

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
        body = (frame.function.body or [])[block.first : block.last]
        following = frame.following(block.last)
        last: Instruction | None = None
        end = End(following, following)
        if block.gate:
            gated = (frame.function.body or [])[block.first]
            past = frame.following(block.first + 1)
            slot = self._guard(frame, gated)
            return self._bind(frame, [], End(block.successors[0], past, slot, gated.negated))
        if body and _ends(body[-1], self):
            try:
                end = self._end(frame, body[-1], following)
                last = body.pop()
            except UnsupportedInstructionError as error:
                failed = self._raising(error)
                code = self._bind(frame, body[:-1], End(RETURN, RETURN))
                code.instructions, code.steps = body, [*code.steps, failed]
                code.syncs.append(None)
                return code
        code = self._bind(frame, body, end)
        code.last = last
        if last is not None:
            self.site(last)
        return code

    def _bind(self, frame: Frame, body: list[Instruction], end: End) -> Code:
        code = Code(frame, body, [], [], end)
        for instruction in body:
            binding = Binding(frame, instruction, self.site(instruction))
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
        target = next(o for o in last.operands if not isinstance(o, Group))
        if not isinstance(target, Name):
            raise frame.error("'call' takes a function", last)
        function = self.function(target.text)
        if function is not None:
            if function.body is None:
                raise frame.error(f"call of '{target}', which has no body", last)
            return Call(frame, last, target.text, None)
        slot = Binding(frame, last, self.site(last)).source(target, "u64")
        return Call(frame, last, "", slot)


def _ends(instruction: Instruction, program: Program) -> bool:
    """Whether an instruction is bound as the end of its block."""
    if instruction.opcode == "call":
        return not is_builtin(instruction, program.module)
    return instruction.opcode in ("bra", "brx", "ret", "exit")


def _shared_size(instruction: Instruction) -> int:
    """Bytes that an instruction moves at a time, if shared memory may be concerned; else 16."""
    words = instruction.modifiers
    elsewhere = not words or any(w in ("global", "const", "param", "local") for w in words[:-1])
    if elsewhere and instruction.opcode not in ("cp", "wmma"):
        return 16
    match instruction.opcode:
        case "ld" | "ldu" | "st" | "atom" | "red":
            count = next((int(w[1:]) for w in words if w in ("v2", "v4", "v8")), 1)
            return min(TYPE_BITS.get(words[-1], 8) // 8 * count, 16)
        case "cp":
            sizes = [o.value for o in instruction.operands if isinstance(o, Integer)]
            return min([8 if "mbarrier" in words else 16, *(n for n in sizes[:1] if n in (4, 8))])
        case "mbarrier":
            return 8
        case "wmma":
            return 1
    return 8 if words[-1] == "s4" else 16


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


def _names(function: Function) -> Iterator[str]:
    """Every name that stands in an operand of the function."""
    for instruction in function.body or ():
        todo: list[Operand] = list(instruction.operands)
        while todo:
            operand = todo.pop()
            if isinstance(operand, Name):
                yield operand.text
            elif isinstance(operand, Address):
                if operand.base is not None:
                    yield operand.base.text
            elif isinstance(operand, (Vector, Group)):
                todo += operand.items
