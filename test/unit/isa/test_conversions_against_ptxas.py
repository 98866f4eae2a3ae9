"""The table of `cvt` forms says of every target and version what ptxas does; LLVM 22 has each.

Were a target or a version wrong, ptxas would take what the table denies, or the other way round;
LLVM makes an undefined function of an intrinsic that it does not know.
"""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest
from tilec.isa import TARGETS
from tilec.isa.conversions import CONVERSIONS, conversion

FORMS = list(CONVERSIONS.values())
DECLARATIONS = ".reg .b16 %h<2>; .reg .b8 %b<2>;"


def registers(type_: str) -> str:
    """What holds a type: two f32 make a pair."""
    return {"f32": "%f0", "tf32": "%r0", "f16x2": "%r0", "e2m1x2": "%b0"}.get(type_, "%h0")


def line(source: str, result: str) -> str:
    given = "%f0, %f1" if source == "f32" and result != "tf32" else registers(source)
    return f"{CONVERSIONS[source, result].ptx} {registers(result)}, {given};"


LINES = [(CONVERSIONS[key], line(*key)) for key in CONVERSIONS]


@pytest.mark.parametrize("name", TARGETS)
def test_every_form_at_every_version(name, disagreements):
    found = disagreements(name, LINES, DECLARATIONS)
    assert not [(str(version), form.ptx, said) for version, form, said in found]


def test_a_form_is_found_only_where_it_is():
    narrow = ("f32", "e4m3x2")
    assert conversion(*narrow, TARGETS["sm_89"]) is CONVERSIONS[narrow]
    assert conversion(*narrow, TARGETS["sm_86"]) is None
    assert conversion(*narrow, None) is None
    assert conversion("f16x2", "e2m1x2", TARGETS["sm_100a"]) is None


_LLVM = {"f32": "float", "tf32": "i32", "f16x2": "<2 x half>"}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_llvm_selects_the_instruction(form):
    for init in (llvm.initialize_all_targets, llvm.initialize_all_asmprinters):
        init()
    result = _LLVM.get(form.result, "i16")
    pair = form.source == "f32" and form.result != "tf32"
    types = [_LLVM.get(form.source, "i16")] * (2 if pair else 1)
    names = [f"%{n}" for n in range(len(types))]
    given = ", ".join(f"{t} {n}" for t, n in zip(types, names, strict=True))
    text = (
        f'target triple = "nvptx64-nvidia-cuda"\ndeclare {result} @{form.intrinsic}'
        f"({', '.join(types)})\ndefine {result} @f({given}) {{\n"
        f"%r = call {result} @{form.intrinsic}({given})\nret {result} %r\n}}\n"
    )
    machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(
        cpu="sm_100a", features="+ptx86"
    )
    ptx = machine.emit_assembly(llvm.parse_assembly(text))
    assert ".extern" not in ptx
    operands = re.search(rf"{re.escape(form.ptx)}\s+(%\w+), (.*);", ptx)
    assert operands, ptx
    if pair:
        # The first of two is the upper element, here as in PTX.
        loaded = re.findall(r"ld\.param\.b32\s+(%\w+), \[f_param_(\d)\]", ptx)
        number = {register: int(n) for register, n in loaded}
        assert [number[r.strip()] for r in operands[2].split(",")] == [0, 1]
