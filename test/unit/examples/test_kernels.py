"""The kernels that name no layout, on the simulator: numpy's results, no race, no conflict.

Every kernel, for every generation that has its instructions, with regular and ragged extents: in CI
for one target all of them, and for each other target some, which differ; all with `-m slow`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec

HERE = Path(__file__).resolve().parent
KERNELS = HERE.parents[2] / "examples" / "kernels"


def _sibling(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


cases = _sibling("kernels_of_tiles")


@cache
def compiled(file: str, target: str) -> Any:
    return tilec.compile(KERNELS / f"{file}.mlir", target=target)


def runs() -> Iterator[Any]:
    """Each kernel for each of its targets: the extents that CI tries, and the others."""
    for number, kernel in enumerate(cases.KERNELS):
        every = kernel.extents
        for at, target in enumerate(kernel.targets, number):
            tried = every if at % len(kernel.targets) == 0 else (every[at % len(every)],)
            left = [one for one in every if one not in tried]
            name = f"{kernel.name}-{target}"
            yield pytest.param(kernel, target, tried, id=name)
            if left:
                yield pytest.param(
                    kernel, target, left, id=f"{name}-others", marks=pytest.mark.slow
                )


@pytest.mark.parametrize(("kernel", "target", "tried"), list(runs()))
def test_agrees_with_numpy(kernel: Any, target: str, tried: Any) -> None:
    program = compiled(kernel.file, target)
    for extents in tried:
        run = kernel.run(np.random.default_rng(0), extents)
        beside = run.result.base.copy() if run.result.base is not None else None
        report = program.launch(*run.arguments, grid=run.grid, kernel=kernel.name, device="sim")
        assert report.ok, report.findings
        assert not [line for line in report.lines if line.conflicts and staged(line.instruction)]
        assert_close(run, extents)
        if beside is not None:
            width = run.result.shape[-1]
            np.testing.assert_array_equal(run.result.base[..., width:], beside[..., width:])


def staged(instruction: str) -> bool:
    """Whether an instruction moves operands to or from shared memory."""
    return instruction.startswith(("ldmatrix", "cp.async"))


def assert_close(run: Any, extents: tuple[int, ...]) -> None:
    wrong = np.abs(run.result.astype(np.float64) - run.expected)
    most = max(1.0, float(np.abs(run.expected).max()))
    assert wrong.max() <= run.tolerance * most, (extents, wrong.max(), most)


def test_every_kernel_is_run() -> None:
    assert {p.stem for p in KERNELS.glob("*.mlir")} == {k.file for k in cases.KERNELS}
