"""Random programs on tiles, run and compared with numpy, as they are and with other levels."""

from __future__ import annotations

import importlib.util
import random
from functools import cache
from types import ModuleType
from typing import Any

import seeds
from case import Case, Reached, WrongError


@cache
def _generator() -> ModuleType:
    path = seeds.ROOT / "test/unit/tiles/random_tiles.py"
    spec = importlib.util.spec_from_file_location("random_tiles", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def prepare() -> None:
    """Import what a launch needs."""
    run(Case("tiles", "", {"seed": 1, "level": 3}))


def make(rng: random.Random) -> Case:
    """A program by its seed."""
    seed = rng.randrange(1 << 40)
    return Case(
        "tiles", _generator().Program(seed).text, {"seed": seed, "level": rng.choice((0, 3))}
    )


def run(case: Case) -> Reached:
    """Compile at two levels, run both, and compare with numpy."""
    import numpy as np
    import tilec
    from tilec.isa import TilecError

    program: Any = _generator().Program(case.options["seed"])
    try:
        compiled = tilec.compile(program.text, opt_level=case.options["level"])
    except TilecError:
        return Reached.REFUSED
    if program.contradicts:
        raise WrongError("a product of other signs than its form is taken")
    compiled.launch(*program.arguments, 1, grid=1, device="sim")
    for number, value in program.expected.items():
        got = program.arguments[number].astype(np.float64)
        if not np.array_equal(got, value, equal_nan=True):
            raise WrongError(f"argument {number} differs from numpy's")
    return Reached.RAN
