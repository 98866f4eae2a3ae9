"""Calls of the functions that the driver provides, and `trap`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..blocks import Call
from ..findings import StoppedError
from ..machine import Machine, Step
from ..memory import GLOBAL_BASE, LOCAL_WINDOW
from ..ptx.module import Arguments, Instruction, Module, Name
from ..traits import PLAIN, First, Flow, Traits, Unit
from ..widths import dtype_of
from .registry import ending, instruction

_FORMAT = re.compile(r"%[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t)?([diouxXeEfFgGaAcspn%])")


Reader = Callable[[tuple[int, int, int]], bytes]
"""The first bytes of an argument, as a thread passes it."""


def _callee(instruction: Instruction) -> Name | None:
    for operand in instruction.operands:
        if isinstance(operand, Name):
            return operand
    return None


def _is_builtin(instruction: Instruction, module: Module) -> bool:
    """Whether a call goes to a function that has no body and is provided here."""
    name = _callee(instruction)
    if name is None or name.text not in _FUNCTIONS:
        return False
    function = module.functions.get(name.text)
    return function is None or function.body is None


def _arguments(binding: Binding) -> list[Reader]:
    """Readers of each argument's bytes, for one thread."""
    groups = [o for o in binding.operands if isinstance(o, Arguments)]
    named = next(i for i, o in enumerate(binding.operands) if isinstance(o, Name))
    arguments = groups[named] if len(groups) > named else Arguments(())
    readers: list[Reader] = []
    memory = binding.machine.memory
    for operand in arguments.items:
        address = (
            binding.frame.address(operand.text, binding.instruction.scope)
            if isinstance(operand, Name)
            else None
        )
        if address is None:
            raise binding.error("an argument of a call is a .param variable")
        _, offset = address

        def read(thread: tuple[int, int, int], offset: int = offset) -> bytes:
            place = memory.spaces["local"].place(np.full(binding.machine.shape, offset))
            start = int(place[thread])
            return bytes(memory.data[start : start + 8])

        readers.append(read)
    return readers


def _returning(binding: Binding, bits: int) -> Callable[[Array], None]:
    """Gives all threads what a function returns, numbers of so many bits, if it is asked for."""
    group = binding.operands[0]
    name = group.items[0] if isinstance(group, Arguments) and group.items else None
    scope, where = binding.instruction.scope, binding.instruction
    found = binding.frame.address(name.text, scope) if isinstance(name, Name) else None
    if found is None:
        return lambda _: None
    machine, memory = binding.machine, binding.machine.memory

    def give(values: Array) -> None:
        space, mask = memory.spaces["local"], machine.mask
        offsets = np.full(machine.shape, found[1])
        values = values.astype(dtype_of(bits))
        if machine.observer is not None:
            machine.observer.access(
                where, space, offsets, bits // 8, mask, Access.WRITE, values=[values]
            )
        memory.store(space.place(offsets), bits, values, mask)

    return give


def _threads(machine: Machine) -> Iterator[tuple[int, int, int]]:
    """The active threads, in order."""
    yield from ((c, w, n) for c, w, n in np.argwhere(machine.active()).tolist())


def _bytes_at(machine: Machine, address: int, size: int, thread: tuple[int, int, int]) -> bytes:
    """Bytes at a generic address, global or local, as a thread sees them."""
    memory = machine.memory
    if address >= GLOBAL_BASE:
        start = address - GLOBAL_BASE
        return bytes(memory.data[start : start + size])
    offsets = np.arange(size).reshape(-1, 1, 1, 1) + (address - LOCAL_WINDOW)
    places = memory.spaces["local"].place(np.broadcast_to(offsets, (size, *machine.shape)))
    return bytes(memory.data[places[:, *thread]])


def formatted(
    text: str, argument: Callable[[int, int], bytes], string: Callable[[int], str]
) -> str:
    """What printf makes of a format.

    Args:
        text: the format.
        argument: bytes of the arguments' buffer, from an offset, of a size.
        string: the string at an address.
    """
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at = -(-at // size) * size
        data = argument(at, size)
        at += size
        return data

    def replace(match: re.Match[str]) -> str:
        kind, length = match[4], match[3] or ""
        if kind == "%":
            return "%"
        spec = match[0]
        for _ in range(spec.count("*")):
            spec = spec.replace("*", str(int.from_bytes(take(4), "little", signed=True)), 1)
        spec = spec.replace(length, "", 1) if length else spec
        if kind in "eEfFgGaA":
            value = float(np.frombuffer(take(8), np.float64)[0])
            return value.hex() if kind in "aA" else spec % value
        if kind in "sp":
            address = int.from_bytes(take(8), "little")
            return spec % string(address) if kind == "s" else f"{address:#x}"
        wide = length in ("l", "ll", "j", "z", "t")
        number = int.from_bytes(take(8 if wide else 4), "little", signed=kind in "dic")
        return chr(number & 0xFF) if kind == "c" else (spec.replace("u", "d") % number)

    return _FORMAT.sub(replace, text)


def _printf(binding: Binding) -> Step:
    format_, buffer = _arguments(binding)[:2]
    machine, give = binding.machine, _returning(binding, 32)

    def step() -> None:
        parsed = np.zeros(machine.shape, np.uint32)
        for thread in _threads(machine):
            text = machine.memory.text(int.from_bytes(format_(thread), "little"))
            start = int.from_bytes(buffer(thread), "little")

            def argument(
                at: int, size: int, start: int = start, thread: tuple[int, int, int] = thread
            ) -> bytes:
                return _bytes_at(machine, start + at, size, thread)

            machine.output.append(formatted(text, argument, machine.memory.text))
            parsed[thread] = sum(found[4] != "%" for found in _FORMAT.finditer(text))
        give(parsed)

    return step


def _assert(binding: Binding) -> Step:
    readers = _arguments(binding)
    machine, where = binding.machine, binding.instruction
    place = binding.frame.program.module.place(where)

    def step() -> None:
        for thread in _threads(machine):
            given = [int.from_bytes(read(thread), "little") for read in readers[:4]]
            message, file, function = (machine.memory.text(given[i]) for i in (0, 1, 3))
            line = given[2] & 0xFFFFFFFF
            name = machine.thread_name(thread)
            words = f"assertion `{message}` failed in {function} at {file}:{line}, {name}"
            raise StoppedError("trap", f"{place}: {words}", where, name)

    return step


def _malloc(binding: Binding) -> Step:
    (size,) = _arguments(binding)
    machine, give = binding.machine, _returning(binding, 64)

    def step() -> None:
        heap = machine.heap
        assert heap is not None
        found = np.zeros(machine.shape, np.uint64)
        for thread in _threads(machine):
            found[thread] = heap.allocate(int.from_bytes(size(thread), "little"))
        give(found)

    return step


def _free(binding: Binding) -> Step:
    (address,) = _arguments(binding)
    machine, where = binding.machine, binding.instruction

    def step() -> None:
        heap = machine.heap
        assert heap is not None
        for thread in _threads(machine):
            given = int.from_bytes(address(thread), "little")
            if not heap.free(given) and machine.observer is not None:
                words = f"frees {given:#x}, which malloc did not return, or which is already freed"
                machine.observer.blame("heap", where, thread, words)

    return step


@instruction("trap", traits=Traits(flow=Flow.END), unit=Unit.CONTROL)
@instruction("brkpt", traits=PLAIN, unit=Unit.CONTROL)
def _trap(binding: Binding) -> Step:
    machine, where = binding.machine, binding.instruction
    place = binding.frame.program.module.place(where)

    def step() -> None:
        for thread in _threads(machine):
            name = machine.thread_name(thread)
            raise StoppedError("trap", f"{place}: trap by {name}", where, name)

    return step


_FUNCTIONS = {
    "vprintf": _printf,
    "__assertfail": _assert,
    "malloc": _malloc,
    "free": _free,
}


_CALL = Traits(flow=Flow.CALL, first=First.SOURCE)


@instruction("call", traits=_CALL, unit=Unit.CONTROL)
def _call_builtin(binding: Binding) -> Step:
    name = _callee(binding.instruction)
    assert name is not None
    return _FUNCTIONS[name.text](binding)


@ending("call", traits=_CALL)
def _call(binding: Binding) -> Call | None:
    program = binding.frame.program
    if _is_builtin(binding.instruction, program.module):
        return None
    target = next((o for o in binding.operands if not isinstance(o, Arguments)), None)
    if not isinstance(target, Name):
        raise binding.error("'call' takes a function")
    function = program.placement.function(target.text)
    if function is None:
        return Call(binding.instruction, "", binding.source(target, "u64"))
    if function.body is None:
        raise binding.error(f"call of '{target}', which has no body")
    return Call(binding.instruction, target.text, None)
