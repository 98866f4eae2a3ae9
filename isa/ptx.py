"""A form as PTX text: the instruction with its operands in the order that the ISA gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .form_classes import Form
from .operands import brace

Registers = Mapping[str, Sequence[str]]
"""For each matrix operand, selector or address by name, the registers or immediates it is in."""


def assembly(form: Form, registers: Registers, space: str = "shared") -> str:
    """The instruction as PTX text, semicolon included.

    Args:
        form: the form.
        registers: what stands for each operand, result and selector; `address` (and, where the
            form takes one, optionally `stride`) for the memory operand.
        space: state space of the address; empty for a generic one.
    """
    return f"{form.mnemonic(space)} {', '.join(_operands(form, registers))};"


def _operands(form: Form, registers: Registers) -> Iterator[str]:
    """Results, address, operands with the selectors of each, other selectors, stride."""
    for result in form.results:
        yield result.text(registers[result.name])
        yield from _picking(form, result.name, registers)
    if form.memory is not None:
        (address,) = registers["address"]
        yield f"[{address}]"
    for operand in form.operands:
        if operand.tied is None:
            yield operand.text(registers[operand.name])
        yield from _picking(form, operand.name, registers)
    for selector in form.selectors_of(""):
        yield from registers[selector.name]
    if "stride" in registers:
        yield from registers["stride"]


def _picking(form: Form, operand: str, registers: Registers) -> Iterator[str]:
    """The selectors that pick a part of an operand."""
    picking = [one for s in form.selectors_of(operand) for one in registers[s.name]]
    if picking:
        yield picking[0] if len(picking) == 1 else brace(picking)
