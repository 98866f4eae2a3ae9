"""Which lane, and which of its eight codes, says what a row of a sparse operand stores.

Every code of every lane is changed alone, and what changes in D names the row and chunk that it
speaks for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import LANES, Mma
from tilec.isa import form as find_form
from tilec.layout import fragment_of
from tilec.layout.index_arrays import index_arrays
from tilec.runtime import from_registers, to_registers

from ..driver import Cuda
from .answer import Row
from .warp import Warp

_SPARSE = "mma.sp::ordered_metadata.sync.aligned."
FORMS = (
    f"{_SPARSE}m16n8k8.row.col.f32.tf32.tf32.f32",
    f"{_SPARSE}m16n8k16.row.col.f32.tf32.tf32.f32",
    f"{_SPARSE}m16n8k16.row.col.f32.f16.f16.f32",
    f"{_SPARSE}m16n8k32.row.col.s32.s8.s8.s32",
)

CODES = 8
"""In a lane's register."""

Owners = dict[tuple[int, int], set[tuple[int, int]]]
"""By row and chunk the lanes and codes that speak for it."""


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each form and selector."""
    for name in FORMS:
        form = find_form(name)
        assert isinstance(form, Mma)
        assert form.sparsity
        for selector in form.sparsity.selectors:
            found = owners(cuda, form, target, selector)
            yield _row(form, selector, found, expected(form, selector))


def owners(cuda: Cuda, form: Mma, target: str, selector: int) -> Owners:
    """The places that each row and chunk depends on, seen by changing one code after the other.

    A stores ones, and only in column j of B are the places of chunk j different, so that D tells
    row and chunk.
    """
    assert form.sparsity
    warp = Warp(cuda, form, target, {"selector": selector})
    m, n, k = form.shape
    chunk, chunks = form.sparsity.chunk, form.operand("e").cols
    b = np.zeros((k, n))
    for number in range(chunks):
        b[number * chunk : (number + 1) * chunk, number] = np.arange(1, chunk + 1)
    fixed = {
        "a": to_registers(form, "a", np.ones((m, form.operand("a").cols))),
        "b": to_registers(form, "b", b),
        "c": to_registers(form, "c", np.zeros((m, n))),
    }
    first, last = form.sparsity.codes[0], form.sparsity.codes[-1]
    e = np.full((1, LANES), first * 0x11111111, np.uint32)
    before = warp.execute({**fixed, "e": e})
    found: Owners = {}
    for lane in range(LANES):
        for code in range(CODES):
            changed = e.copy()
            changed[0, lane] ^= np.uint32((first ^ last) << 4 * code)
            d = warp.execute({**fixed, "e": changed})
            differs = from_registers(form, "d", d) != from_registers(form, "d", before)
            for row, number in np.argwhere(differs).tolist():
                found.setdefault((row, number), set()).add((lane, code))
    warp.close()
    return found


def expected(form: Mma, selector: int) -> Owners:
    """The same by `tilec.layout`."""
    matrix = index_arrays(fragment_of(form, "e"), CODES).matrix[..., selector]
    return {(row, chunk): {divmod(int(at), CODES)} for (row, chunk), at in np.ndenumerate(matrix)}


def _row(form: Mma, selector: int, found: Owners, wanted: Owners) -> Row:
    differing = sorted(at for at in {*found, *wanted} if found.get(at) != wanted.get(at))
    verdict = "as laid out"
    if differing:
        at = differing[0]
        verdict = (
            f"{len(differing)} of {len(wanted)} chunks differ; of row {at[0]}, chunk {at[1]} "
            f"(lane, code) {sorted(found.get(at, ()))} speak, not {sorted(wanted.get(at, ()))}"
        )
    question = f"places of metadata, selector {selector}"
    return {
        "work": "probe",
        "question": question,
        "form": form.ptx,
        "verdict": verdict,
        "results": [[*at, sorted(places_)] for at, places_ in sorted(found.items())],
        "says": f"{question} ({form.ptx}): {verdict}",
    }
