"""Level-1 kernels compiled and run on the simulator."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.launch.arguments import passed
from tilec.sim import launch


@pytest.fixture
def run():
    """Compile a program and run its kernel on arrays; what the simulator finds is a failure."""

    def run_(
        text: str,
        arguments: Sequence[Any],
        *,
        grid: tuple[int, ...] = (1,),
        target: str | None = None,
    ) -> Any:
        compiled = tilec.compile(text, target=target)
        (kernel,) = compiled.kernels
        report = launch(
            compiled.ptx,
            kernel.name,
            grid,
            kernel.block,
            passed(kernel, arguments),
            dynamic_smem=kernel.dynamic_shared,
        )
        assert not report.findings, report.findings
        return compiled

    return run_


@pytest.fixture
def random():
    """Numbers, the same each time."""
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def random_tiles() -> ModuleType:
    """Random programs on tiles."""
    return _beside("random_tiles")


@pytest.fixture(scope="session")
def random_memory() -> ModuleType:
    """Random programs on memory."""
    return _beside("random_memory")


def _beside(name: str) -> ModuleType:
    """A module beside this file, whose folder is not a package."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
