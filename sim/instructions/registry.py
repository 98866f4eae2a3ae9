"""Instructions by opcode: what binds them, declared together with what they are.

@instruction("ld", "ldu", traits=_polling, undefined=load)
def _load(binding: Binding) -> Step: ...

@ending("ret", traits=Traits(flow=Flow.END))
def _return(binding: Binding) -> Where: ...
"""

from __future__ import annotations

from collections.abc import Callable

from ..binding import Binding
from ..blocks import Where
from ..machine import Step
from ..opcodes import load, load_all
from ..ptx.module import Instruction
from ..taint.flows import Finder, half_or_whole
from ..traits import UNKNOWN, Declaration, Unit, UnitDeclaration, declare, declare_unit
from ..traits import forget as forget_traits

Binder = Callable[[Binding], Step]
"""Binds one instruction; raises `UnsupportedInstructionError` or `alu.Unsupported`."""
EndBinder = Callable[[Binding], Where | None]
"""Finds where an instruction leads at the end of its block; None if it is bound as a step."""

_steps: dict[str, Binder] = {}
_flows: dict[str, Finder] = {}
_ends: dict[str, EndBinder] = {}


def instruction(
    *opcodes: str,
    traits: Declaration = UNKNOWN,
    unit: UnitDeclaration = Unit.ARITHMETIC,
    undefined: Finder = half_or_whole,
) -> Callable[[Binder], Binder]:
    """Declares the opcodes that a function binds to steps.

    Args:
        opcodes: the opcodes.
        traits: what they are.
        unit: where they go.
        undefined: how undefined bits of their operands go through them; without, an undefined bit
            makes all of the result undefined.
    """

    def register(binder: Binder) -> Binder:
        for opcode in opcodes:
            load(opcode)
            if opcode in _steps:
                raise ValueError(f"'{opcode}' is bound twice")
            _steps[opcode] = binder
            _flows[opcode] = undefined
            declare(opcode, traits)
            declare_unit(opcode, unit)
        return binder

    return register


def ending(*opcodes: str, traits: Declaration) -> Callable[[EndBinder], EndBinder]:
    """Declares the opcodes that end their block, where a function says that they lead."""

    def register(binder: EndBinder) -> EndBinder:
        for opcode in opcodes:
            load(opcode)
            if opcode in _ends:
                raise ValueError(f"'{opcode}' ends a block twice")
            _ends[opcode] = binder
            declare(opcode, traits)
            declare_unit(opcode, Unit.CONTROL)
        return binder

    return register


def forget(opcode: str) -> None:
    """Take back what was declared of an opcode."""
    _steps.pop(opcode, None)
    _flows.pop(opcode, None)
    _ends.pop(opcode, None)
    forget_traits(opcode)


def opcodes() -> tuple[str, ...]:
    """Every opcode that is bound."""
    load_all()
    return tuple(dict.fromkeys((*_steps, *_ends)))


def binder(found: Instruction) -> Binder | None:
    """What binds an instruction to a step; None if nothing does."""
    load(found.opcode)
    return _steps.get(found.opcode)


def flow(found: Instruction) -> Finder | None:
    """How undefined bits go through an instruction; None of one that nothing binds to a step."""
    load(found.opcode)
    return _flows.get(found.opcode)


def end_binder(found: Instruction) -> EndBinder | None:
    """What says where an instruction leads, if it may end a block."""
    load(found.opcode)
    return _ends.get(found.opcode)
