"""Remarks of passes reach whoever collects them, with their place, and stop nothing.

Which forms draw one is checked against the measured table of what targets execute, form by form.
"""

from __future__ import annotations

from typing import Any

import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.isa import form, target
from tilec.isa.sass import execution
from tilec.passes.base import remark, remarks

FP8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
INT4 = "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32"
HALF = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def product(name: str, chosen: str) -> Any:
    """A kernel with one product."""
    found = form(name)
    with tile.module("m", target=chosen) as module:
        element = {"e4m3": "i8", "s4": "i8", "f16": "f16"}[str(found.operand("a").type)]
        with tile.kernel("k", {"x": f"memref<64x64x{element}>"}, block=32) as (x,):
            a = tile.load(x, 0, 0, type=tile.operand_fragment(name, "a"))
            b = tile.load(x, 0, 0, type=tile.operand_fragment(name, "b"), transposed=True)
            c = tile.fill(0, tile.operand_fragment(name, "c"))
            tile.mma(name, a, b, c)
    return module


@pytest.mark.parametrize("chosen", ["sm_80", "sm_89", "sm_90", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("name", [FP8, INT4, HALF])
def test_emulated_forms(name: str, chosen: str) -> None:
    how = execution(form(name), target(chosen))
    if how is None:
        pytest.skip(f"{chosen} has no {name}")
    found = tilec.compile(product(name, chosen), emit="tile").remarks
    assert [d.severity for d in found] == ["remark"] * how.emulated
    for diagnostic in found:
        assert diagnostic.message.startswith(f"'tile.mma' op {name} is emulated on {chosen}")
        assert diagnostic.location.filename == __file__


def test_some_are_and_some_are_not() -> None:
    emulated = {c: execution(form(FP8), target(c)) for c in ("sm_89", "sm_90")}
    assert {c: e.emulated for c, e in emulated.items() if e} == {"sm_89": False, "sm_90": True}


def test_collectors_nest() -> None:
    remark("nowhere", "lost")
    with remarks() as outer:
        remark("here", "first")
        with remarks() as inner:
            remark("there", "second")
        assert [d.message for d in inner] == ["second"]
    assert [d.message for d in outer] == ["first", "second"]
