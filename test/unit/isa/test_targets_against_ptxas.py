"""The table says of every target and every PTX version exactly what ptxas does.

All forms stand in one module for each pair of target and version; ptxas names the lines that it
refuses, and they must be those that the table says are not there yet, or not at all.
"""

from __future__ import annotations

import re

import pytest
from tilec.isa import TARGETS, Form, PtxVersion, Target, warp_forms

FORMS = list(warp_forms().values())


RELIABLE = {"sm_88": PtxVersion(9, 1)}
"""The ptxas of CUDA 13.0 takes sm_88 from PTX 7.3 on, later ones from 9.0 as the ISA says."""


def undocumented(form: Form, target: Target, version: PtxVersion) -> bool:
    """What ptxas takes and the ISA does not grant: fp8 of kind::f8f6f4 on the sm_100 families."""
    fp8 = re.search(r"kind::f8f6f4\.(f16|f32)\.e[45]m[32]\.e[45]m[32]\.", form.ptx)
    if not fp8 or not target.scope or not 100 <= target.number < 120:
        return False
    return version >= PtxVersion(8, 6 if fp8[1] == "f32" else 7)


@pytest.mark.parametrize("name", TARGETS)
def test_every_form_at_every_version(name, disagreements, instruction_line):
    lines = [(form, instruction_line(form)) for form in FORMS]
    assert not [
        (str(version), form.ptx, said)
        for version, form, said in disagreements(name, lines)
        if not undocumented(form, TARGETS[name], version)
    ]


@pytest.mark.parametrize("name", TARGETS)
def test_the_target_string_appears_with_its_version(name, assemblers_for, versions):
    target = TARGETS[name]
    assembler = assemblers_for(target, RELIABLE.get(name))[-1]
    before = [version for version in versions if version < target.min_ptx]
    for version in (*before[-1:], target.min_ptx):
        text = f".version {version}\n.target {name}\n.address_size 64\n"
        status, report = assembler.run(
            text + ".visible .entry k() { ret; }\n", assembler.architecture(target)
        )
        assert (status == 0) == (version == target.min_ptx), report
