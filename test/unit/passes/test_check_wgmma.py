"""`tile-check-wgmma` on random programs: what is right is taken, and what is missing is found.

The judges are the simulator, which executes what the check refuses, and the note C7519 of a ptxas
that still prints it (13.0), by which it has put in a fence. Waits it puts in where none is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import TilecError, target
from tilec.passes.base import remarks
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

from .wgmma_order_programs import SPARE, chained, program, two_at_once, without

HOPPER = target("sm_90a")
UNCHECKED = pipeline(HOPPER).replaced("tile-check-wgmma")
NOTES = re.compile(r"C7519")


def _is_taken(lines: list[str]) -> bool:
    """Whether the check lets a program through; it must say why not."""
    refusal = ""
    try:
        tilec.compile("\n".join(lines), emit="tile")
    except TilecError as error:
        refusal = str(error)
    assert not refusal or ("tile.wgmma" in refusal and "legal:" in refusal), refusal
    return not refusal


def _is_right(lines: list[str], ptxases: list[Any]) -> bool:
    """Whether neither the simulator, either way, nor a ptxas that says so finds anything wrong."""
    compiled = tilec.compile("\n".join(lines), pipeline=UNCHECKED)
    found = {kind for way in (0, 1) for kind in _findings(compiled, way)}
    assert found <= {"wgmma"}, found
    reports = [ptxas.run(compiled.ptx, "sm_90a") for ptxas in ptxases]
    assert all(status == 0 for status, _ in reports), reports
    return not found and not any(NOTES.search(report) for _, report in reports)


def _findings(compiled: tilec.Compiled, way: int) -> list[str]:
    """The kinds of what the simulator finds."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, (rows, 64)).astype(np.float16) for rows in (64, 8))
    out = np.zeros((192, 8), np.float32)
    try:
        compiled.launch(a, b, out, np.int32(way), grid=1, device="sim")
    except SimulationError as error:
        return [one.kind for one in error.report.findings] if error.report else ["?"]
    return []


def _talking(assemblers_for: Callable[..., list[Any]]) -> list[Any]:
    """The ptxases that note what they repair: 13.5 does no longer for a missing fence."""
    return [one for one in assemblers_for(HOPPER) if "13.5" not in str(one)]


def _check(seed: int, assemblers_for: Callable[..., list[Any]]) -> None:
    ptxases = _talking(assemblers_for)
    lines = program(seed)
    assert _is_taken(lines)
    assert _is_right(lines, ptxases)
    for number, line in enumerate(lines):
        if "tile.wgmma_fence" not in line and "tile.wgmma_wait" not in line:
            continue
        # An op orders the values that it takes: a missing one is refused, too, where another's
        # instruction happens to do in its place.
        changed, shown = without(lines, number), "\n".join([f"without {number}:", *lines])
        assert _is_taken(changed) == line.endswith(SPARE), shown
        if line.endswith(SPARE):
            assert _is_right(changed, ptxases), shown


def test_the_judges_find_what_is_missing(assemblers_for: Callable[..., list[Any]]) -> None:
    """What the check refuses is wrong, where no other instruction does in its place."""
    ptxases = _talking(assemblers_for)
    lines = chained()
    assert _is_right(lines, ptxases)
    for number, line in enumerate(lines):
        if "tile.wgmma_fence" in line or "tile.wgmma_wait" in line:
            assert not _is_right(without(lines, number), ptxases), line


@pytest.mark.parametrize(("threads", "columns"), [(384, 128), (384, 144), (512, 96), (512, 112)])
def test_room_for_accumulators(
    threads: int, columns: int, assemblers_for: Callable[..., list[Any]]
) -> None:
    """Of two in flight at once ptxas notes what the check advises against."""
    text = two_at_once(threads, columns)
    with remarks() as told:
        compiled = tilec.compile(text)
    advised = any("C7511" in one.message for one in told)
    for ptxas in assemblers_for(HOPPER):
        _, report = ptxas.run(compiled.ptx, "sm_90a", "-v")
        assert advised == (not re.search(r"\b0 bytes spill stores", report)), report
    assert advised == (columns + 26 > 65536 // threads // 8 * 8)


@pytest.mark.parametrize("seed", range(3))
def test_some_programs(seed: int, assemblers_for: Callable[..., list[Any]]) -> None:
    _check(seed, assemblers_for)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 60))
def test_many_programs(seed: int, assemblers_for: Callable[..., list[Any]]) -> None:
    _check(seed, assemblers_for)
