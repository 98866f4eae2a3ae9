"""The JSON beside PTX, and the arguments of a launch that it describes."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import mutations
import seeds
from case import Case, Reached

_VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 1 << 31, 1 << 63, 10**30, 1.5, "", "x", [], [0], {}, "memref", "ptr",
)  # fmt: skip
_ARGUMENTS = (
    "zeros:4x4:f32", "zeros:16", "1", "nan", "1e400", "null", "f32:1", "i8:300", "zeros:0", "x.npy",
    "randn:2x2:f16", "i64:-1", "9" * 30, "", ":", "::", "f32:", "zeros:", "zeros:1x1x1x1x1x1x1:i8",
)  # fmt: skip


@cache
def _compiled() -> tuple[tuple[str, str], ...]:
    import tilec

    names = ("mma.mlir", "gemm.mlir", "kernels/gemm.mlir", "hopper/gemm.mlir")
    made = [tilec.compile(seeds.ROOT / "examples" / name) for name in names]
    return tuple((one.ptx, str(one.abi)) for one in made)


def make(rng: random.Random) -> Case:
    """A description with a value changed, or its text."""
    number = rng.randrange(len(_compiled()))
    document = json.loads(_compiled()[number][1])
    if rng.random() < 0.6:
        _change(document, rng)
        text = json.dumps(document)
    else:
        text = mutations.mutated(json.dumps(document), rng, ('"null"', "null", "true", '"kind"'))
    arguments = [rng.choice(_ARGUMENTS) for _ in range(rng.choice((1, 3, 4)))]
    return Case("sidecars", text, {"number": number, "arguments": arguments})


def _change(document: Any, rng: random.Random) -> None:
    at = document
    while isinstance(at, dict | list) and at:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or rng.random() < 0.2:
            if rng.random() < 0.2:
                del at[key]
            else:
                at[key] = rng.choice(_VALUES)
            return
        at = at[key]


def run(case: Case) -> Reached:
    """Read it as the cache and `tile-run` do, and launch by it."""
    from tilec.isa import TilecError
    from tilec.launch.abi import Abi
    from tilec.sim.ptx import read_text
    from tilec.tools.run_arguments import argument
    from tilec.tools.run_program import LoadedProgram

    ptx = _compiled()[case.options["number"]][0]
    try:
        abi = Abi.parse(case.text)
    except TilecError:
        return Reached.REFUSED
    module = read_text(ptx)
    program = LoadedProgram(module, "sm_90a", {kernel.name: kernel for kernel in abi.kernels})
    try:
        values = [argument(one, at, 0) for at, one in enumerate(case.options["arguments"])]
        name = program.kernel(None)
        program.passed(name, values)
        program.block(name)
        program.grid(name, values)
        program.dynamic_shared(name)
    except (TilecError, OSError):
        return Reached.VERIFIED
    return Reached.RAN
