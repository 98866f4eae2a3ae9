"""The examples without layouts, with the extents and arrays of the simulator's tests of them."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tilec
from tilec.isa import target as find_target

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CASES = ROOT / "test" / "unit" / "examples" / "kernels_of_tiles.py"


@dataclass(frozen=True)
class Launch:
    """A kernel with its arguments.

    Attributes:
        name: of the kernel and its extents.
        file: of the example, without `.mlir`.
        ptx: the text.
        kernel: how it is launched.
        grid: CTAs.
        arguments: arrays and scalars.
        result: the argument that it writes.
        tolerance: of the result, over the largest element, where the kernel is not exact.
    """

    name: str
    file: str
    ptx: str
    kernel: Any
    grid: Sequence[int]
    arguments: Sequence[Any]
    result: np.ndarray
    tolerance: float


@cache
def cases() -> Any:
    """The module that holds the tests' cases."""
    spec = importlib.util.spec_from_file_location(CASES.stem, CASES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[CASES.stem] = module  # where its dataclasses look for it
    spec.loader.exec_module(module)
    return module


def tile_kernels(target: str) -> Iterator[Launch]:
    """Every kernel whose instructions a target has, on all extents.

    A kernel that is tested for a target runs on later generations as well, but for those of
    targets that end in a letter.
    """
    number = find_target(target).number
    for case in cases().KERNELS:
        if not any(runs_on(known, number) for known in case.targets):
            continue
        program = tilec.compile(EXAMPLES / "kernels" / f"{case.file}.mlir", target=target)
        (kernel,) = (k for k in program.kernels if k.name == case.name)
        for extents in case.extents:
            run = case.run(np.random.default_rng(0), extents)
            yield Launch(
                f"{case.name}-{'x'.join(map(str, extents))}",
                case.file,
                program.ptx,
                kernel,
                run.grid,
                run.arguments,
                run.result,
                run.tolerance,
            )


def runs_on(target: str, number: int) -> bool:
    """Whether what a target has an architecture of a number has, too."""
    known = find_target(target)
    return known.number == number or (target[-1].isdigit() and known.number < number)


def inexact(ptx: str) -> bool:
    """Whether bits may differ from run to run or from one generation to another."""
    return re.search(r"\.approx|\b(?:red|atom)\.", ptx) is not None
