"""`tile.tma_gather` and `tile.tma_scatter`: beside ptxas, and numpy on the simulator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import target
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text
from tilec.sim import SimulationError

from ..interpret.arrays import contents, views

EXAMPLE = Path(__file__).parents[3] / "examples" / "blackwell" / "gather.mlir"
LONG = np.iinfo(np.int32)

RAGGED = {
    "repeated": [7, 7, 0, 49, 49, 3, 3, 3, 21],
    "outside": [-1, 50, 51, LONG.max, LONG.min, 12, 49, 0, -50, 20],
    "several CTAs": [(37 * at) % 50 for at in range(71)],
    "one": [5],
}


def numbers(name: str) -> np.ndarray:
    return np.array(RAGGED[name], np.int32)


def matrix(rows: int, seed: int = 0) -> np.ndarray:
    """104 columns: a whole block of 64, and a part of one."""
    return np.random.default_rng(seed).integers(1, 200, (rows, 104)).astype(np.float16)


def program(swizzle: str = "128B", chip: str = "sm_100a") -> str:
    return EXAMPLE.read_text().replace('"128B"', f'"{swizzle}"').replace("sm_100a", chip)


@cache
def compiled_for(swizzle: str, chip: str) -> tilec.Compiled:
    return tilec.compile(program(swizzle, chip))


def gathered(x: np.ndarray, index: np.ndarray) -> np.ndarray:
    inside = (index >= 0) & (index < len(x))
    return np.where(inside[:, None], x[np.where(inside, index, 0)], np.float16(0))


@pytest.mark.parametrize("name", RAGGED)
@pytest.mark.parametrize("swizzle", ["128B", "none"])
def test_gathers(name: str, swizzle: str) -> None:
    x, index = matrix(50), numbers(name)
    y = np.full((len(index), 104), 9, np.float16)
    report = compiled_for(swizzle, "sm_100a").launch(
        x, index, y, kernel="gather", grid=(-(-len(index) // 64), 2), device="sim"
    )
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(y, gathered(x, index))


@pytest.mark.parametrize("name", ["outside", "several CTAs"])
def test_scatters(name: str) -> None:
    index = numbers(name)
    index = np.array(list(dict.fromkeys(index.tolist())), np.int32)  # each once
    x, y = matrix(len(index)), matrix(50, 1)
    wanted = y.copy()
    for line, row in enumerate(index.tolist()):
        if 0 <= row < 50:
            wanted[row] = x[line]
    report = compiled_for("128B", "sm_100a").launch(
        x, index, y, kernel="scatter", grid=(-(-len(index) // 64), 2), device="sim"
    )
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("chip", ["sm_100a", "sm_103a"])
def test_they_assemble(chip: str, assemblers_for: Callable[..., list[Any]]) -> None:
    compiled = compiled_for("128B", chip)
    for ptxas in assemblers_for(target(chip)):
        status, report = ptxas.run(compiled.ptx, chip)
        assert status == 0, report


def test_gathers_exist_where_scatters_do_not(assemblers_for: Callable[..., list[Any]]) -> None:
    """A gather to the own CTA is an instruction of all targets from sm_100 on."""
    text = program(chip="sm_120a")
    with pytest.raises(tilec.TilecError, match=r"tma_scatter' op .*does not exist on sm_120a"):
        tilec.compile(text)
    compiled = tilec.compile(text[: text.index("  gpu.func @scatter")] + "}\n")
    for ptxas in assemblers_for(target("sm_120a")):
        status, report = ptxas.run(compiled.ptx, "sm_120a")
        assert status == 0, report
    with pytest.raises(tilec.TilecError, match=r"tma_gather' op .*does not exist on sm_90a"):
        tilec.compile(program(chip="sm_90a"))


@pytest.mark.parametrize("name", ["repeated", "outside"])
def test_meaning(name: str) -> None:
    """What the interpreter of tiles makes of both, beside numpy."""
    module = parse(Source("-", program()), new_context())
    arithmetic = arithmetic_of("hardware")
    for function in module.body.operations[0].regions[0].blocks[0].operations:
        x, index = matrix(50), np.array(list(dict.fromkeys(RAGGED[name])), np.int32)
        gathers = "tma_gather" in to_text(function)
        y = np.zeros((len(index) if gathers else 50, 104), np.float16)
        given = views(function, [x, index, y], arithmetic)
        done = interpret(function, given, arithmetic, grid=(1, 2, 1), target="sm_100a")
        assert not done.findings
        wanted = gathered(x, index)
        if not gathers:
            wanted = y
            for line, row in enumerate(index.tolist()):
                if 0 <= row < 50:
                    wanted[row] = x[line]
        np.testing.assert_array_equal(contents(given[2], done.memories[2]), wanted)


def test_what_the_mbarrier_expects() -> None:
    """Bytes that are not all told leave the CTA waiting, which the simulator says."""
    x, index = matrix(50), numbers("one")
    text = program().replace("bytes 8192", "bytes 8208", 1)
    y = np.zeros((1, 104), np.float16)
    compiled = tilec.compile(text)
    with pytest.raises(SimulationError, match=r"deadlock: .* 0 of 1 arrivals and 16 bytes pending"):
        compiled.launch(x, index, y, kernel="gather", grid=1, device="sim")
