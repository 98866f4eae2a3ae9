"""A CUDA GPU; without one every test here is skipped, saying why.

`run` takes what the simulator's tests of the examples give it: so their kernels and inputs come to
the GPU, too, and their comparisons with numpy are of what it gives.
"""

import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tilec.runtime import cuda

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))


EXAMPLES = SimpleNamespace(
    **runpy.run_path(str(ROOT / "test" / "unit" / "examples" / "conftest.py"))
)
"""What runs the examples on the simulator."""


def _gpu() -> cuda.Device | str:
    """The first GPU, or why there is none."""
    try:
        return cuda.gpu()
    except cuda.UnavailableError as error:
        return str(error)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    found = _gpu()
    if isinstance(found, str):
        terminalreporter.write_line(f"device tests skipped: {found}")


@pytest.fixture(scope="session", autouse=True)
def gpu() -> cuda.Device:
    """The first GPU."""
    found = _gpu()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def difference(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> str:
    """Where bits differ, in a line; empty if they do not.

    pytest itself compares long bytes line by line, which takes minutes where CI is set.
    """
    item = wanted.itemsize
    got, right = (
        np.frombuffer(one.tobytes(), np.uint8).reshape(-1, item) for one in (found, wanted)
    )
    places = np.flatnonzero((got != right).any(axis=1))
    if not len(places):
        return ""
    at = int(places[0])
    bits = [f"0x{one[at, ::-1].tobytes().hex()}" for one in (got, right)]
    return f"{len(places)} of {len(right)} elements, first {at}: {bits[0]}, not {bits[1]}"


@pytest.fixture
def run(gpu: cuda.Device) -> Callable[..., Any]:
    """Runs a kernel on arrays, on the GPU, which must give the simulator's bits."""

    def both(
        program: Any,
        kernel: str,
        grid: Sequence[int],
        arrays: Sequence[Any],
        *,
        target: str = gpu.target.name,
        **options: Any,
    ) -> Any:
        if isinstance(program, str):
            program = EXAMPLES.compiled(program, target)
        (found,) = [k for k in program.kernels if k.name == kernel]
        memories = [EXAMPLES.passed(*pair) for pair in zip(found.arguments, arrays, strict=True)]
        before = [memory[0].copy() for memory in memories if isinstance(memory[0], np.ndarray)]
        report = EXAMPLES.launch(
            program.ptx,
            kernel,
            grid,
            found.block,
            [value for memory in memories for value in memory],
            arch=gpu.target.name,
            dynamic_smem=found.dynamic_shared,
            **options,
        )
        assert not report.findings, "\n".join(map(str, report.findings))
        held = [memory[0] for memory in memories if isinstance(memory[0], np.ndarray)]
        simulated = [memory.copy() for memory in held]
        for memory, content in zip(held, before, strict=True):
            memory[...] = content
        cuda.launch(
            program.ptx,
            kernel,
            grid,
            found.block,
            [value for memory in memories for value in memory],
            dynamic_smem=found.dynamic_shared,
        )
        for memory, wanted in zip(held, simulated, strict=True):
            off = difference(memory, wanted)
            assert not off, f"other bits than the simulator's: {off}"
        return report

    return both


@pytest.fixture
def rng() -> Any:
    """Random numbers, the same in each run and as in the simulator's tests."""
    return np.random.default_rng(20261121)
