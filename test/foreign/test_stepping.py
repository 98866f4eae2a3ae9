"""Stops in others' kernels: fragments and swizzled tiles against numpy, and results the same."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Debugger, Stop

from .case import HERE
from .test_foreign import CASES


def test_swizzled_tiles_and_accumulators_of_a_warpgroup() -> None:
    """TileLang's GEMM on Hopper: tiles of 64x32 and 32x64 in two stages, products of k = 16."""
    (case,) = (one for one in CASES if one.name == "tilelang_gemm_sm_90a-gemm")
    a, b = (np.asarray(map_.array, np.float32) for map_ in case.args[:2])
    text = (HERE / case.file).read_text().splitlines()
    lines = [n for n, line in enumerate(text, 1) if "wgmma.mma_async" in line]
    done = [n + 1 for n, line in enumerate(text, 1) if "wgmma.wait_group" in line]
    assert (len(lines), len(done)) == (8, 4)  # nvcc has unrolled the loop
    steps: list[int] = []
    total = np.zeros((64, 64))

    def stopped(stop: Stop) -> None:
        nonlocal total
        stop.focus(cta=(1, 0), thread=170)
        if stop.line in lines:
            first, stage = 32 * len(steps), len(steps) % 2 * 4096
            steps.append(first)
            left, right = a[:64, first : first + 32], b[first : first + 32, 64:]
            held = stop.shared(1024 + stage, (64, 32), "f16", "64B")
            np.testing.assert_array_equal(held, left)
            assert not np.array_equal(stop.shared(1024 + stage, (64, 32), "f16"), left)
            held = stop.shared(1024 + 8192 + stage, (32, 64), "f16", "128B")
            np.testing.assert_array_equal(held, right)
            for step, line in enumerate(lines[2 * len(steps) - 2 : 2 * len(steps)]):
                if step == 0:  # the second has its descriptors later
                    np.testing.assert_array_equal(stop.fragment("a", line), left[:, :16])
                    np.testing.assert_array_equal(stop.fragment("b", line), right[:16])
            total = total + left @ right
        else:
            np.testing.assert_array_equal(stop.fragment("d", lines[2 * len(steps) - 1]), total)

    case.run(debugger=Debugger(stopped, [*lines[::2], *done], at_start=False))
    assert steps == [0, 32, 64, 96]


@pytest.mark.parametrize("name", ["clang-sort_own", "triton_sort_rows-sort_rows", "clang-ring"])
def test_stops_change_nothing(name: str) -> None:
    """Stepped through, they give what numpy gives, and have no finding."""
    (case,) = (one for one in CASES if one.name == name)
    lines: list[int] = []

    def stopped(stop: Stop) -> None:
        lines.append(stop.line)
        stop.step()

    assert case.run(debugger=Debugger(stopped)).ok
    assert len(lines) > 50
