"""The table of `red` forms says of every target and version what ptxas does.

Were a target or a version wrong, ptxas would take what the table denies, or the other way round.
"""

from __future__ import annotations

import pytest
from tilec.isa import TARGETS
from tilec.isa.reductions import REDUCTIONS, reductions

FORMS = list(REDUCTIONS.values())
REGISTERS = {"u32": "%r", "s32": "%r", "b32": "%r", "f32": "%f", "f64": "%d", "f16": "%h"}
DECLARATIONS = ".reg .b16 %h<9>; .reg .b64 %l<2>;"


def line(number: int) -> str:
    form = FORMS[number]
    packed = form.elements // form.registers == 2
    name = "%r" if packed else REGISTERS.get(form.type, "%h" if "16" in form.type else "%l")
    held = [f"{name}{at}" for at in range(form.registers)]
    value = f"{{{', '.join(held)}}}" if form.registers > 1 else held[0]
    return f"{form.ptx} [%p], {value};"


LINES = [(form, line(number)) for number, form in enumerate(FORMS)]


@pytest.mark.parametrize("name", TARGETS)
def test_every_form_at_every_version(name, disagreements):
    found = disagreements(name, LINES, DECLARATIONS)
    assert not [(str(version), form.ptx, said) for version, form, said in found]


def test_widest_last():
    assert [one.elements for one in reductions("add", "f16")] == [1, 2, 4, 8]
    assert [one.elements for one in reductions("add", "f32")] == [1, 2, 4]
    assert not reductions("max", "f32")
    assert [one.elements for one in reductions("add", "f16", "shared")] == [1, 2]
