"""Level-1 kernels compiled and run on the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.arguments import passed
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
