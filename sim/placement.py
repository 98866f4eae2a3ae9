"""Where a kernel's variables and functions lie. PTX ISA, "State Spaces" and "Initializers"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from tilec.isa.launch import place_parameters
from tilec.isa.types import TYPE_BITS

from .alu import Array
from .errors import LaunchError
from .memory import FUNCTION_BASE, SHARED_WINDOW, Memory
from .ptx.module import (
    Function,
    Module,
    Symbol,
    Variable,
    operand_names,
)
from .traits import Sync, Traits, traits


class Placement:
    """Addresses of what a kernel names.

    Attributes:
        module: the PTX text.
        kernel: the kernel.
        functions: the kernel and every function whose name occurs in one of these.
        shared_bytes: shared memory of a CTA, dynamic included.
    """

    def __init__(self, module: Module, kernel: Function, memory: Memory, dynamic: int) -> None:
        self.module = module
        self.kernel = kernel
        self._uses: dict[str, Counter[str]] = {}
        self.functions = list(self._reachable())
        self._memory = memory
        self._addresses: dict[str, tuple[str, int]] = {}
        self._shared: dict[Variable, int] = {}
        self._order = list(module.functions)
        self.shared_bytes = self._place_shared(dynamic)
        self.restart()

    def restart(self) -> None:
        """Begin a launch: place what it has in global memory, in the same places each time."""
        self._place_global()
        offsets, size = place_parameters(self.kernel.parameters)
        self._room = self._memory.reserve(size)
        for parameter, offset in zip(self.kernel.parameters, offsets, strict=True):
            self._addresses[parameter.name] = ("global", self._room + offset)

    @property
    def asynchronous(self) -> bool:
        """Whether any instruction works on shared memory by the asynchronous proxy."""
        return any(found.asynchronous for found in self._traits())

    @property
    def warpgroups(self) -> bool:
        """Whether any instruction is executed by the warps of a warpgroup together."""
        return any(found.sync is Sync.WARPGROUP for found in self._traits())

    @property
    def takes_over(self) -> bool:
        """Whether any instruction takes over the work of CTAs that have not started."""
        return any(found.takes_over for found in self._traits())

    def named(self, *names: str) -> bool:
        """Whether one of these names stands in an operand of what is placed."""
        return any(name in self.uses(function) for function in self.functions for name in names)

    def _traits(self) -> Iterator[Traits]:
        for function in self.functions:
            yield from map(traits, function.body or ())

    def _reachable(self) -> Iterator[Function]:
        todo, seen = [self.kernel.name], {self.kernel.name}
        while todo:
            function = self.function(todo.pop())
            if function is None:
                continue
            yield function
            for name in self.uses(function):
                if name in self.module.functions and name not in seen:
                    seen.add(name)
                    todo.append(name)

    def uses(self, function: Function) -> Counter[str]:
        """How often each name stands in an operand of a function."""
        found = self._uses.get(function.name)
        if found is None:
            found = self._uses[function.name] = function.once(_uses)
        return found

    def _place_shared(self, dynamic: int) -> int:
        """Shared variables that are used, then those without extent; the bytes they take."""
        variables = list(self._shared_variables())
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
        return start + dynamic

    def _shared_variables(self) -> Iterator[Variable]:
        used = {name for function in self.functions for name in self.uses(function)}
        for name, variable in self.module.variables.items():
            if variable.space == "shared" and name in used:
                yield variable
        scopes = {
            id(scope): scope
            for function in self.functions
            for instruction in function.body or ()
            for scope in instruction.scope.chain()
        }
        for scope in scopes.values():
            yield from (v for v in scope.variables.values() if v.space == "shared")

    def _place_global(self) -> None:
        """Give module variables their addresses, then their initial values."""
        memory = self._memory
        placed: list[tuple[Variable, int]] = []
        for name, variable in self.module.variables.items():
            if variable.space == "shared":
                if variable in self._shared:
                    self._addresses[name] = ("shared", self._shared[variable])
                continue
            address = memory.allocate(
                f"variable '{name}'", variable.size, writable=variable.space != "const"
            )
            self._addresses[name] = ("global", address)
            placed.append((variable, address))
        for variable, address in placed:
            step = max(TYPE_BITS[variable.type] // 8, 1)
            values = [self._initial(v, variable) for v in variable.values]
            packed = b"".join((v % (1 << (8 * step))).to_bytes(step, "little") for v in values)
            memory.fill(address, np.frombuffer(packed, np.uint8))

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
                f"initial value names '{value.name}', which is not defined", variable.position
            )
        return function

    def parameters(self, buffer: Array) -> None:
        """Fill the kernel's parameters; `buffer` holds their bytes."""
        self._memory.admit("parameters", self._room, buffer.size, writable=False)
        self._memory.fill(self._room, buffer)

    def address(self, name: str) -> tuple[str, int] | None:
        """State space and address of a variable of the module or a kernel parameter."""
        return self._addresses.get(name)

    def variable(self, variable: Variable) -> tuple[str, int]:
        """State space and address of a variable declared in a function's body."""
        if variable.space == "shared":
            return "shared", self._shared[variable]
        raise LaunchError(f"variable '{variable.name}' of .{variable.space} inside a function")

    def function(self, name: str) -> Function | None:
        """A function by its name or alias."""
        name = self.module.aliases.get(name, name)
        return self.module.functions.get(name)

    def function_address(self, name: str) -> int | None:
        """The address of a function; None if there is none of that name."""
        name = self.module.aliases.get(name, name)
        if name not in self.module.functions:
            return None
        return FUNCTION_BASE + 16 * self._order.index(name)

    def function_at(self, address: int) -> str | None:
        """The function at an address."""
        index, rest = divmod(address - FUNCTION_BASE, 16)
        return self._order[index] if rest == 0 and 0 <= index < len(self._order) else None


def _uses(function: Function) -> Counter[str]:
    return Counter(names(function))


def names(function: Function) -> Iterator[str]:
    """Every name that stands in an operand of the function."""
    for instruction in function.body or ():
        yield from operand_names(instruction.operands)
