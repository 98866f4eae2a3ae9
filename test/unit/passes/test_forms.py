"""Every form of the table goes from tile ops to PTX that holds it, and through ptxas.

Each form's kernel loads its operands as fragments, executes it once and stores the result; the
kernels of a target make one program. Once for the oldest target that has the form and once for
the newest, of those that an installed ptxas knows.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
import tilec
from tilec.backend.cubin import AssemblerError, find_ptxas
from tilec.dialects.tile.form_program import form_kernel, form_program
from tilec.isa import TARGETS, Form, Target, warp_forms


def _assembles(target: Target) -> bool:
    try:
        find_ptxas(target)
    except AssemblerError:
        return False
    return True


def _batches() -> dict[Target, list[Form]]:
    known = [target for target in TARGETS.values() if _assembles(target)]
    batches: dict[Target, list[Form]] = defaultdict(list)
    for form in warp_forms().values():
        having = [target for target in known if form.min_ptx(target) is not None]
        for target in {min(having, key=_age), max(having, key=_age)} if having else ():
            batches[target].append(form)
    return dict(sorted(batches.items(), key=lambda item: _age(item[0])))


def _age(target: Target) -> tuple[int, str]:
    return target.number, target.scope


BATCHES = _batches()


def _spellings(form: Form) -> set[str]:
    return {form.mnemonic(space) for space in ("", *form.spaces)}


@pytest.mark.parametrize("target", BATCHES, ids=str)
def test_tile_program_of_forms(target: Target) -> None:
    together = BATCHES[target]
    kernels = [form_kernel(form, target, name=f"k{i}") for i, form in enumerate(together)]
    compiled = tilec.compile(form_program(kernels, target), target=str(target), opt_level=1)
    bodies = dict(_entries(compiled.ptx))
    for kernel in kernels:
        assert any(s in bodies[kernel.name] for s in _spellings(kernel.form)), kernel.form
        assert compiled.abi.ptx >= kernel.form.min_ptx(target)
    assert compiled.resources.keys() == bodies.keys()
    assert not any(found.spill_stores for found in compiled.resources.values())


def _entries(ptx: str) -> list[tuple[str, str]]:
    """Name and text of each kernel."""
    found = []
    for text in ptx.split(".entry ")[1:]:
        name, _, body = text.partition("(")
        found.append((name, body))
    return found


def test_every_form_has_its_turn() -> None:
    walked = {form.ptx for together in BATCHES.values() for form in together}
    left = [form for form in warp_forms().values() if form.ptx not in walked]
    # What no ptxas at hand assembles at all: those that only later ones know.
    assert all(not any(_assembles(t) for t in TARGETS.values() if f.min_ptx(t)) for f in left)
    assert len(walked) > 600
