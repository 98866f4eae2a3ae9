"""Instructions by opcode: what binds them, declared together with what they are.

@instruction("ld", "ldu", traits=_polling)
def _load(binding: Binding) -> Step: ...

@ending("ret", traits=Traits(flow=Flow.END))
def _return(binding: Binding) -> Where: ...
"""

from __future__ import annotations

from collections.abc import Callable

from ..binding import Binding
from ..blocks import Where
from ..machine import Step
from ..ptx.module import Instruction
from ..traits import UNKNOWN, Declaration, declare

Binder = Callable[[Binding], Step]
"""Binds one instruction; raises `UnsupportedInstructionError` or `alu.Unsupported`."""
EndBinder = Callable[[Binding], Where | None]
"""Finds where an instruction leads at the end of its block; None if it is bound as a step."""

_steps: dict[str, Binder] = {}
_ends: dict[str, EndBinder] = {}


def instruction(*opcodes: str, traits: Declaration = UNKNOWN) -> Callable[[Binder], Binder]:
    """Declares the opcodes that a function binds to steps, and what they are."""

    def register(binder: Binder) -> Binder:
        for opcode in opcodes:
            if opcode in _steps:
                raise ValueError(f"'{opcode}' is bound twice")
            _steps[opcode] = binder
            declare(opcode, traits)
        return binder

    return register


def ending(*opcodes: str, traits: Declaration) -> Callable[[EndBinder], EndBinder]:
    """Declares the opcodes that end their block, where a function says that they lead."""

    def register(binder: EndBinder) -> EndBinder:
        for opcode in opcodes:
            if opcode in _ends:
                raise ValueError(f"'{opcode}' ends a block twice")
            _ends[opcode] = binder
            declare(opcode, traits)
        return binder

    return register


def opcodes() -> tuple[str, ...]:
    """Every opcode that is bound."""
    return tuple(dict.fromkeys((*_steps, *_ends)))


def binder(found: Instruction) -> Binder | None:
    """What binds an instruction to a step; None if nothing does."""
    return _steps.get(found.opcode)


def end_binder(found: Instruction) -> EndBinder | None:
    """What says where an instruction leads, if it may end a block."""
    return _ends.get(found.opcode)
