"""The comparison with Triton's tutorials: what it counts, and whether its results are whole."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


def module(name: str) -> Any:
    """A file of the benchmarks."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec
    assert spec.loader
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def documented(
    x: int,
    y: int,
) -> int:
    """Two lines of

    docstring, which do not count.
    """
    # Nor does this.

    for _ in range(y):
        x += 1
    return x


def short(x: int) -> int:
    return x


def test_lines_are_those_that_say_something() -> None:
    lines_of = module("source_lines").lines_of
    assert lines_of(documented) == {"lines": 7, "body": 3}
    assert lines_of(short) == {"lines": 2, "body": 1}


@pytest.fixture
def tutorials() -> Any:
    module("source_lines")
    return module("triton_tutorials")


def test_the_results_are_of_all_kernels(tutorials: Any) -> None:
    files = sorted((BENCHMARKS / "results").glob("triton_tutorials-*.json"))
    held = json.loads(files[-1].read_text(encoding="utf-8"))
    for side in ("triton", "tilec"):
        assert held[side].keys() == tutorials.PEERS.keys()
        for run in held[side].values():
            assert len(run["seconds"]) == held["rounds"]
            assert "error" not in run


@pytest.mark.parametrize("name", ["softmax", "layer_norm_backward", "grouped_gemm"])
def test_a_kernel_is_compiled(tutorials: Any, name: str) -> None:
    run = tutorials.compiled(tutorials.PEERS[name])
    assert run["warnings"] == []
    assert run["lines"] > run["body"] > 3
