"""The examples on a GPU, with the kernels and inputs of the simulator's tests, three ways.

What the GPU gives is bit by bit what the simulator gives for that GPU, and numpy's product.
"""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "unit" / "examples"

pytestmark = pytest.mark.device


def simulators(file: str) -> Iterator[tuple[str, Callable[..., None]]]:
    """The tests of a file that run examples."""
    for name, value in runpy.run_path(str(UNIT / f"{file}.py")).items():
        if name.startswith("test_") and "run" in value.__code__.co_varnames:
            yield f"{name}_of_{file}", value


for file in ("test_run", "test_epilogues", "test_random_gemms"):
    globals().update(simulators(file))
