"""The table says of every target and every PTX version exactly what ptxas does.

All forms stand in one module for each pair of target and version; ptxas names the lines that it
refuses, and they must be those that the table says are not there yet, or not at all.
"""

from __future__ import annotations

import re

import pytest
from tilec.isa import TARGETS, Form, PtxVersion, Target, forms

VERSIONS = [
    PtxVersion(major, minor)
    for major, last in ((6, 5), (7, 8), (8, 8), (9, 5))
    for minor in range(last + 1)
]
FORMS = list(forms().values())


def undocumented(form: Form, target: Target, version: PtxVersion) -> bool:
    """What ptxas takes and the ISA does not grant: fp8 of kind::f8f6f4 on the sm_100 families."""
    fp8 = re.search(r"kind::f8f6f4\.(f16|f32)\.e[45]m[32]\.e[45]m[32]\.", form.ptx)
    if not fp8 or not target.scope or not 100 <= target.number < 120:
        return False
    return version >= PtxVersion(8, 6 if fp8[1] == "f32" else 7)


@pytest.mark.parametrize("name", TARGETS)
def test_every_form_at_every_version(name, assemblers, instruction_line):
    target = TARGETS[name]
    able = [a for a in assemblers if a.architecture(target)]
    if not able:
        pytest.skip(f"no ptxas at hand assembles for {name}")
    wrong = []
    for assembler in able:
        known = [f for f in FORMS if min(f.targets.values()) <= assembler.newest]
        lines = [instruction_line(form) for form in known]
        for version in VERSIONS:
            if not target.min_ptx <= version <= assembler.newest:
                continue
            refused = assembler.refusals(lines, target, version, features=True)
            for index, form in enumerate(known):
                first = form.min_ptx(target)
                legal = first is not None and first <= version
                if legal == (index in refused) and not undocumented(form, target, version):
                    wrong.append((str(version), form.ptx, refused.get(index, "accepted")))
    assert not wrong


@pytest.mark.parametrize("name", TARGETS)
def test_the_target_string_appears_with_its_version(name, assemblers):
    target = TARGETS[name]
    able = [a for a in assemblers if a.architecture(target)]
    if not able:
        pytest.skip(f"no ptxas at hand assembles for {name}")
    # The newest: ptxas 13.0 takes sm_88 from PTX 7.3 on, later ones from 9.0 as the ISA says.
    assembler = max(able, key=lambda a: a.newest)
    before = [version for version in VERSIONS if version < target.min_ptx]
    for version in (*before[-1:], target.min_ptx):
        text = f".version {version}\n.target {name}\n.address_size 64\n"
        status, report = assembler.run(
            text + ".visible .entry k() { ret; }\n", assembler.architecture(target)
        )
        assert (status == 0) == (version == target.min_ptx), report
