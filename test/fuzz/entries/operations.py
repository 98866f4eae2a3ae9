"""Random kernels in Python of what tiles do, run and compared with numpy, on several targets.

The generators are those of the tests in `test/unit/lang`: loads and stores, gathers and scatters
under masks; chains of scans, sorts, reductions and shapes; atomic updates in global and shared
memory, and random numbers.
"""

from __future__ import annotations

import importlib.util
import linecache
import math
import random
from functools import cache
from types import ModuleType
from typing import Any, Literal

import seeds
from case import Case, Reached, WrongError

_COUNTS = {"accesses": 8, "shapes": 4, "updates": 6}
"""The generators, and how many steps a kernel of each has."""
_TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")


@cache
def _generator(name: str) -> ModuleType:
    path = seeds.ROOT / f"test/unit/lang/random_{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def _program(name: str, seed: int) -> Any:
    module = _generator(name)
    kind = {"accesses": "Accesses", "shapes": "Chain", "updates": "Updates"}[name]
    return getattr(module, kind)(seed, _COUNTS[name])


def prepare() -> None:
    """Import what a launch needs."""
    for name in _COUNTS:
        run(Case("operations", "", {"kind": name, "seed": 1, "target": "sm_80"}))


def make(rng: random.Random) -> Case:
    """A kernel by its generator and seed."""
    name, seed = rng.choice(list(_COUNTS)), rng.randrange(1 << 40)
    options = {"kind": name, "seed": seed, "target": rng.choice(_TARGETS)}
    return Case("operations", _program(name, seed).text, options)


def run(case: Case) -> Reached:
    """Compile, run, and compare with numpy; each generator knows what its kernels are to give."""
    import numpy as np

    name = case.options["kind"]
    program, module = _program(name, case.options["seed"]), _generator(name)
    kernel = _defined(program.text).using(target=case.options["target"], cache=False)
    if name == "shapes":
        out = np.zeros((_COUNTS[name], module.LARGEST), np.int64)
        kernel[1](program.start, out)
        wanted = np.zeros_like(out)
        for row, value in zip(wanted, program.expected(), strict=True):
            row[: value.size] = value
        _compare("what a step gives", out, wanted)
        return Reached.RAN
    out = np.zeros((_COUNTS[name], module.WIDTH), np.int64)
    kernel[1](out, *program.arguments)
    _compare("what is loaded, or was there", out, program.rows)
    if name == "updates":
        for argument, wanted in program.expected():
            _compare(argument, program.arguments[int(argument[1:])], wanted)
        return Reached.RAN
    for memory, after in program.stored:
        _compare(memory.name, module.held(memory), module.as_bits(after))
    return Reached.RAN


def _compare(what: str, found: Any, wanted: Any) -> None:
    import numpy as np

    if not np.array_equal(found, wanted):
        raise WrongError(f"{what} differs from numpy's")


def _defined(text: str) -> Any:
    """The kernel that a source defines."""
    import tilec
    import tilec.lang as tl

    name = f"<operations {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"tl": tl, "tilec": tilec, "math": math, "Literal": Literal}
    names["__name__"] = "fuzz"
    exec(compile(text, name, "exec"), names)
    return names["kernel"]
