"""Kernels that others' compilers made, in every order of their warps."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from .case import HERE, Case
from .test_foreign import CASES

DEPEND = {
    "samples-fence_reduce", "samples-look_back_scan", "samples-compact", "samples-locked_sum",
    "samples-heat", "clang-atomics", "triton_total-total", "triton_last_adds-last_adds",
}  # fmt: skip
"""Their threads use what atomics find, or poll memory: what they do may depend on the order."""
HANG = {"tilelang_gemm_sm_90a-gemm", "tilelang_attention_sm_90a-attention"}
"""Three warps wait for stages that they do not fill, and nobody waits for these warps."""
QUICK = {"clang-ring", "triton_gemm-gemm", "samples-bitonic_sort"}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=() if case.name in QUICK else pytest.mark.slow)
        for case in CASES
        if case.name not in HANG
    ],
)
def test_every_order(case: Case) -> None:
    report = case.run(every_order=True)
    expected = "incomplete" if case.name in DEPEND else "passed"
    assert report.verdict == expected, report.to_text()


def hopper_gemm() -> Case:
    (case,) = (one for one in CASES if one.name == "tilelang_gemm_sm_90a-gemm")
    return case


def test_a_warp_that_falls_behind_hangs() -> None:
    report = hopper_gemm().run(every_order=True)
    found = {finding.kind for finding in report.findings}
    assert found == {"order-mbarrier", "order-deadlock"}
    missed = next(one for one in report.findings if one.kind == "order-mbarrier")
    text = (HERE / hopper_gemm().file).read_text().splitlines()
    assert "try_wait" in text[missed.line - 1]
    assert missed.thread.startswith("warp 1 of")


def test_an_order_that_hangs_is_run(tmp_path: Path) -> None:
    """Warp 1 is held back, by a barrier that can only leave orders out, until warp 4 is done.

    So the simulator runs one of the orders that the exploration says is wrong, and it hangs.
    """
    case = hopper_gemm()
    text = (HERE / case.file).read_text()
    hold = (
        "{ .reg .pred %held; .reg .b32 %own; mov.u32 %own, %tid.x; shr.u32 %own, %own, 5; "
        "setp.eq.u32 %held, %own, WARP; @%held BARRIER 15, 64; }\n"
    )
    before = hold.replace("WARP", "1").replace("BARRIER", "bar.sync")
    after = hold.replace("WARP", "4").replace("BARRIER", "bar.arrive")
    changed = re.sub(r"(setmaxnreg\.dec[^;]*;)", rf"\1\n{before}", text, count=1)
    changed = re.sub(r"\tret;", f"\t{after}\tret;", changed)
    path = tmp_path / "held.ptx"
    path.write_text(changed)
    report = replace(case, file=str(path), expected={}).run()
    assert [one.kind for one in report.findings] == ["deadlock"]
    assert re.search(r"warps? 1 .*waits? at .* for a phase of parity", report.findings[0].message)
