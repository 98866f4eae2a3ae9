"""The JSON beside PTX, and the arguments of a launch that it describes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import mutations
import seeds
from case import Case, Reached

_VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 1 << 31, 1 << 63, 10**30, 1.5, "", "x", [], [0], {}, "memref", "ptr",
)  # fmt: skip
_LIKELY = ("zeros:16x16:f16", "zeros:16x8:f32", "zeros:8x16:f16", "zeros:128x128:f16", "zeros:16")
_WORDS = (
    "f16", "bf16", "f32", "f64", "i8", "i32", "i64", "i1", "f8E4M3FN", "memref", "scalar", "index",
    "sm_80", "sm_90a", "7.0", "8.6", "k", "arg0", "gemm", "tensor_map",
)  # fmt: skip
_ARGUMENTS = (
    "zeros:4x4:f32", "zeros:16", "1", "nan", "1e400", "null", "f32:1", "i8:300", "zeros:0", "x.npy",
    "randn:2x2:f16", "i64:-1", "9" * 30, "", ":", "::", "f32:", "zeros:", "zeros:1x1x1x1x1x1x1:i8",
)  # fmt: skip


@cache
def _compiled() -> tuple[tuple[Any, str, Any], ...]:
    """What is read of the PTX of some examples, their description, and the parameters."""
    import tilec
    from tilec.sim.ptx import read_text

    names = ("mma.mlir", "gemm.mlir", "kernels/gemm.mlir", "hopper/gemm.mlir")
    made = [tilec.compile(seeds.ROOT / "examples" / name) for name in names]
    return tuple((read_text(one.ptx), str(one.abi), one.abi.kernels[0].arguments) for one in made)


def prepare() -> None:
    """Compile some examples."""
    _compiled()


def make(rng: random.Random) -> Case:
    """A description with a value changed, or its text."""
    number = rng.randrange(len(_compiled()))
    document = json.loads(_compiled()[number][1])
    chance = rng.random()
    if chance < 0.7:
        for _ in range(rng.choice((1, 1, 2, 4))):
            (_value if chance < 0.4 else _change)(document, rng)
        text = json.dumps(document)
    else:
        text = mutations.mutated(json.dumps(document), rng, ('"null"', "null", "true", '"kind"'))
    arguments = [rng.choice(_ARGUMENTS) for _ in range(rng.choice((1, 3, 4)))]
    if rng.random() < 0.5:
        arguments = [rng.choice(_LIKELY) for _ in _compiled()[number][2]]
    return Case("sidecars", text, {"number": number, "arguments": arguments})


def _value(document: Any, rng: random.Random) -> None:
    """Another value of the same kind in place of one."""
    places = list(_leaves(document))
    at, key = rng.choice(places)
    old = at[key]
    if isinstance(old, bool) or old is None:
        at[key] = rng.choice((None, 1, 16, 4096))
    elif isinstance(old, int):
        at[key] = rng.choice((old + 1, 1 << rng.randrange(20), rng.randrange(5000)))
    else:
        at[key] = rng.choice((f"{old}{rng.randrange(100)}", rng.choice(_WORDS)))


def _leaves(document: Any) -> Iterator[tuple[Any, Any]]:
    """The places of values that hold no others: their holder, and the key there."""
    for key in list(document) if isinstance(document, dict) else range(len(document)):
        if isinstance(document[key], dict | list) and document[key]:
            yield from _leaves(document[key])
        else:
            yield document, key


def _change(document: Any, rng: random.Random) -> None:
    at = document
    while isinstance(at, dict | list) and at:
        key = rng.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if not isinstance(at[key], dict | list) or not at[key] or rng.random() < 0.2:
            if rng.random() < 0.2:
                del at[key]
            else:
                at[key] = deepcopy(rng.choice(_VALUES))  # which later changes may change
            return
        at = at[key]


def run(case: Case) -> Reached:
    """Read it as the cache and `tile-run` do, and launch by it."""
    from tilec.isa import TilecError
    from tilec.isa.launch import extents
    from tilec.launch.abi import Abi
    from tilec.tools.run_arguments import argument
    from tilec.tools.run_program import LoadedProgram

    try:
        abi = Abi.parse(case.text)
    except TilecError:
        return Reached.REFUSED
    module = _compiled()[case.options["number"]][0]
    program = LoadedProgram(module, "sm_90a", {kernel.name: kernel for kernel in abi.kernels})
    try:
        values = [argument(one, at, 0) for at, one in enumerate(case.options["arguments"])]
        name = program.kernel(None)
        grid = extents(program.grid(name, values), "grid")
        program.passed(name, values, grid)
        program.block(name)
        program.launched(name, grid, 132, None)
        program.dynamic_shared(name)
    except (TilecError, OSError):
        return Reached.VERIFIED
    return Reached.RAN
