"""The table of `atom` forms says of every target and version what ptxas does."""

from __future__ import annotations

import pytest
from tilec.isa import TARGETS
from tilec.isa.atomics import ATOMICS, ORDERS, SCOPES, Atomic

REGISTERS = {"f32": "%f", "f64": "%d", "f16": "%h", "bf16": "%h"}
BITS = {"16": "%h", "32": "%r", "64": "%l"}
DECLARATIONS = ".reg .b16 %h<9>; .reg .b64 %l<9>;"


def line(form: Atomic, order: str, scope: str, space: str = "global") -> str:
    name = REGISTERS.get(form.type, BITS[form.type[-2:]])
    more = f", {name}2" if form.op == "cas" else ""
    return f"{form.ptx(order, scope, space)} {name}0, [%p], {name}1{more};"


LINES = [
    (form, line(form, ORDERS[number % 4], SCOPES[number % 3], space))
    for number, form in enumerate(ATOMICS.values())
    for space in ("global", "shared")
]
EACH = [
    (form, line(form, order, scope))
    for form in list(ATOMICS.values())[:1]
    for order in ORDERS
    for scope in SCOPES
]


@pytest.mark.parametrize("name", TARGETS)
def test_every_form_at_every_version(name, disagreements):
    found = disagreements(name, LINES + EACH, DECLARATIONS)
    assert not [(str(version), form, said) for version, form, said in found]
