"""Kernels that others' compilers made: each gives what numpy gives, and has no finding.

`make.py` writes the PTX from the sources beside it, which are written for this suite; the head of
each text says which compiler made it. A seeded order of warps runs each another way (`-m slow`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from . import (
    clang_cases,
    halide_cases,
    iree_cases,
    numba_cases,
    samples,
    tilelang_cases,
    triton_cases,
    warp_cases,
)
from .case import HERE, Case

PRODUCERS = (
    samples, clang_cases, numba_cases, triton_cases, warp_cases, halide_cases, iree_cases,
    tilelang_cases,
)  # fmt: skip
CASES = [case for producer in PRODUCERS for case in producer.cases()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernel(case: Case) -> None:
    report = case.run()
    assert report.ok, "\n".join(map(str, report.findings))
    assert not [one for one in report.advice if one.kind == "unread"]


def test_the_page_says_how_many_there_are() -> None:
    page = (HERE.parents[1] / "docs" / "simulator.md").read_text(encoding="utf-8")
    assert f"`test/foreign` runs {len(CASES)} kernels that" in page


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernel_in_another_order(case: Case) -> None:
    assert case.run(order=5).ok


ADDS = "triton_last_adds-last_adds"
FAULTS = {
    "no fence around a lock": ("samples-locked_sum", r"fence\.acq_rel\.gpu;|membar\.gl;", ""),
    "no barrier of the grid": ("samples-heat", r"atom\.add\.release", "atom.add.relaxed"),
    "a counter that orders nothing": (ADDS, r"\.acq_rel", ".relaxed"),
    "a counter of the CTA's scope": (ADDS, r"\.gpu\.acq_rel", ".cta.acq_rel"),
    "no barrier between the halves of a stage": ("samples-pipelined_copy", r"bar\.sync\s+0;", ""),
    "no barrier before a stage is used again": ("clang-ring", r"bar\.sync\s+0;(?=\s+bra)", ""),
    "no barrier between stages": ("halide_blur-blur", r"bar(rier)?\.sync\s+0;", ""),
    "no barrier between steps": ("numba-largest", r"(bar|barrier)\.sync\s+0;", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_without_what_orders_it(name: str, tmp_path: Path) -> None:
    """The same kernels race where what orders their CTAs or warps is taken out."""
    kernel, pattern, new = FAULTS[name]
    (case,) = (one for one in CASES if one.name == kernel)
    text = (HERE / case.file).read_text()
    begin = text.index(f".entry {case.kernel}(")
    end = text.find(".visible .entry", begin)
    body = text[begin : None if end < 0 else end]
    changed = re.sub(pattern, new, body)
    assert changed != body
    path = tmp_path / "wrong.ptx"
    path.write_text(text.replace(body, changed))
    report = replace(case, file=str(path), expected={}).run()
    assert "race" in {one.kind for one in report.findings}
