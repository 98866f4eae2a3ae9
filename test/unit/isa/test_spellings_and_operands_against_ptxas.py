"""Other spellings, register counts, selectors and state spaces: ptxas takes what the table says.

And refuses its neighbours: one register more or less, a selector out of range, another space.
"""

from __future__ import annotations

import pytest
from tilec.isa import PtxVersion, form, instruction, target, warp_forms
from tilec.isa.spellings import spellings

FORMS = list(warp_forms().values())
# The architecture that has every form but ldmatrix to s8, and the one that has these.
HOMES = (target("sm_120a"), target("sm_120f"))


def home(found):
    """A target that has the form."""
    return next(t for t in HOMES if found.min_ptx(t))


def judge(assembler, cases):
    """Complaints by index about (form, line) pairs, each line checked where the form lives."""
    refused = {}
    for where in HOMES:
        mine = [i for i, (found, _) in enumerate(cases) if home(found) is where]
        version = min(assembler.newest, PtxVersion(9, 5))
        complaints = assembler.refusals([cases[i][1] for i in mine], where, version)
        refused |= {mine[i]: what for i, what in complaints.items()}
    return refused


@pytest.fixture(scope="module")
def newest(assemblers):
    return max(assemblers, key=lambda a: a.newest)


@pytest.fixture(scope="module")
def known(newest):
    return [f for f in FORMS if min(f.targets.values()) <= newest.newest]


def test_ptxas_takes_every_spelling(newest, known, instruction_line):
    cases = []
    for found in known:
        operands = instruction_line(found).split(" ", 1)[1]
        for spelling in spellings(found):
            assert form(spelling) is found
            cases.append((found, f"{spelling} {operands}"))
    refused = judge(newest, cases)
    assert not {cases[i][1]: what for i, what in refused.items()}
    assert len(cases) > 500


def test_ptxas_takes_every_order_that_is_understood(newest, known, instruction_line):
    cases = []
    for found in known:
        operands = instruction_line(found).split(" ", 1)[1]
        for spelling in found.rare_spellings():
            assert form(spelling) is found
            if ".aligned." in spelling:
                cases.append((found, f"{spelling} {operands}"))
    refused = judge(newest, cases)
    assert not {cases[i][1]: what for i, what in refused.items()}
    assert len(cases) > 80


def test_wmma_was_not_aligned_before_ptx_6_3(newest, instruction_line):
    where, old, new = target("sm_70"), PtxVersion(6, 2), PtxVersion(6, 3)
    lines = []
    for found in FORMS:
        if found.min_ptx(where) is None or not found.ptx.startswith("wmma"):
            continue
        mnemonic, _, operands = instruction_line(found).partition(" ")
        for spelling in found.rare_spellings():
            assert form(spelling) is found
            assert ".aligned" not in spelling
        before = mnemonic.replace(".sync.aligned.", ".sync.", 1)
        assert instruction(before) == instruction(mnemonic)
        lines.append(f"{before} {operands}")
    assert not newest.refusals(lines, where, old)
    assert len(newest.refusals(lines, where, new)) == len(lines) > 50


# The ptxas of CUDA 13.0 lets B have two registers here; that of 13.5 refuses it.
FP8 = ("e4m3", "e5m2")
TWO_FOR_B = tuple(
    f"m16n8k16.row.col.{d}.{a}.{b}.{d}" for d in ("f16", "f32") for a in FP8 for b in FP8
)


def test_ptxas_counts_the_same_registers(newest, known, instruction_line):
    cases = []
    for found in known:
        if found.family == "movmatrix":
            continue
        for operand in (*found.results, *found.operands):
            if operand.name in ("e", "sfa", "sfb"):
                continue
            for count in (operand.registers - 1, operand.registers + 1):
                if count:
                    line = instruction_line(found, counts={operand.name: count})
                    assert line != instruction_line(found)
                    cases.append((found, line))
    refused = judge(newest, cases)
    accepted = [case for number, case in enumerate(cases) if number not in refused]
    known_gap = TWO_FOR_B if newest.newest <= PtxVersion(9, 0) else ()
    assert not [line for found, line in accepted if not found.ptx.endswith(known_gap)]
    assert len(cases) > 2000


# ptxas also lets selectors 2 and 3 pass for this shape into f32; the ISA does not define them.
GAP = ("m16n8k32.row.col.f32.f16.f16.f32", (2, 3))


def test_selectors(newest, known, instruction_line):
    legal, illegal = [], []
    for found in known:
        for selector in found.selectors:
            for value in range(max(selector.legal) + 3):
                case = (found, instruction_line(found, selectors={selector.name: value}))
                if value in selector.legal:
                    legal.append(case)
                elif not (found.ptx.endswith(GAP[0]) and value in GAP[1]):
                    illegal.append(case)
    refused = judge(newest, legal)
    assert not {legal[i][1]: what for i, what in refused.items()}
    refused = judge(newest, illegal)
    assert not [illegal[i][1] for i in range(len(illegal)) if i not in refused]


def test_state_spaces(newest, known, instruction_line):
    everywhere = ("", "global", "shared", "shared::cta", "shared::cluster", "local", "const")
    legal, illegal = [], []
    for found in known:
        if not found.spaces:
            continue
        operands = instruction_line(found).split(" ", 1)[1]
        for space in everywhere:
            line = f"{found.mnemonic(space)} {operands}"
            if not space or space in found.spaces:
                assert instruction(found.mnemonic(space)) == (found, space)
                legal.append((found, line))
            else:
                illegal.append((found, line))
    refused = judge(newest, legal)
    assert not {legal[i][1]: what for i, what in refused.items()}
    refused = judge(newest, illegal)
    assert not [illegal[i][1] for i in range(len(illegal)) if i not in refused]
