"""Launches of kernels with what they are not made for, by numpy and by machine code.

Machine code reads and writes numpy's arrays in place: whatever a launch is given, it must give what
numpy gives, and never end the process or change bytes outside the simulator's arrays.
"""

from __future__ import annotations

import random
import re
import sys
from copy import deepcopy
from functools import cache
from importlib import import_module
from math import prod
from typing import Any

import launching
import mutations
import seeds
from case import Case, Reached

_EXAMPLES = (
    "mma.mlir", "warp_gemm.mlir", "families.mlir", "gemm.mlir", "gemm_bounds.mlir",
    "gemm_strides.mlir", "hopper/gemm.mlir", "hopper/gemm_cluster.mlir", "hopper/tiles.mlir",
    "kernels/softmax.mlir", "kernels/layer_norm.mlir", "kernels/attention.mlir",
    "kernels/gemm.mlir", "kernels/gemm_int4.mlir", "kernels/gemm_fp8.mlir",
    "kernels/sparse_gemm.mlir", "kernels/scaled_gemm.mlir", "kernels/split_k_gemm.mlir",
    "kernels/conv.mlir", "blackwell/gather.mlir", "blackwell/gemm.mlir",
)  # fmt: skip
_RANDOM = (
    "test_native_accesses", "test_native_blocks", "test_native_control",
    "test_native_global_checks", "test_native_matrix_loads", "test_native_workers",
)  # fmt: skip
"""Tests that make kernels by random numbers, to compare engines where nothing is wrong."""
_TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8",
          "i32": "int32", "f8E4M3FN": "float8_e4m3fn"}  # fmt: skip
_GLOBAL, _SHARED, _LOCAL = 0x7F00_0000_0000, 0x7E00_0000_0000, 0x7D00_0000_0000
_WRAPS = 1 << 63
_ARCHS = ("sm_70", "sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120a")
_NUMBER = re.compile(r"(?<=[ ,+\[])-?\d+(?=[;,\]])")
_NUMBERS = (0, 1, 2, 3, 4, 8, 15, 16, 31, 32, 33, 127, 128, 4096, 65535, (1 << 31) - 1, 1 << 31,
            (1 << 32) - 4, -1, -4, -16, -128)  # fmt: skip
_MOST_THREADS = 2048
"""Of a launch that is made smaller, so that a case takes no second."""


def prepare() -> None:
    """Import the simulator, and machine code."""
    from tilec.sim.native.library import library

    library()
    for name in ("accesses", "control", "control_checks", "fragment_products", "matrix_loads",
                 "products", "workers", "global_checks", "pending"):  # fmt: skip
        import_module(f"tilec.sim.native.{name}")
    folder = str(seeds.ROOT / "test")
    if folder not in sys.path:
        sys.path.append(folder)


def make(rng: random.Random) -> Case:
    """A kernel, and launches of it in which something is wrong."""
    sources = {_foreign: 3, _example: 2, random_kernel: 5}
    (source,) = rng.choices(list(sources), list(sources.values()))
    while True:
        try:
            return wrong(*source(rng), rng)
        except ValueError:  # takes what is not described
            continue


def wrong(text: str, options: dict[str, Any], rng: random.Random) -> Case:
    """Launches of a kernel, given one that is right, in which something is wrong."""
    chance = rng.random()
    if chance < 0.15:
        text = _other_numbers(text, rng)
    elif chance < 0.3:
        words = sorted({line.split()[0] for line in text.splitlines() if line.strip()})
        text = mutations.mutated(text, rng, words, text)
    options["launch"] |= {
        "checks": rng.random() < 0.75, "numerics": rng.choice(("exact", "exact", "fast")),
        "order": rng.choice((None, None, None, None, rng.randrange(9))),
    }  # fmt: skip
    options |= {
        "after": rng.choice((0, 0, 0, 1, 2)),
        "threads": rng.choice((1, 1, 1, 2)),
        "fused": rng.random() < 0.02,
        "wave": rng.choice((8192, 8192, 32, 256, 600)),
    }
    for change in (_other_shared, _other_block, _other_arch):
        if rng.random() < 0.4:
            change(options, rng)
    first = options["launches"][0]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        options["launches"].append(deepcopy(first))
    for one in options["launches"]:
        one["max_steps"] = rng.choice((100, 400, 1500, 1500))
        for change in (_other_grid, _other_arguments):
            if rng.random() < 0.5:
                change(one, rng)
        _make_smaller(one["grid"], options["block"])
    return Case("launches", text, options)


# Kernels


def _options(
    kernel: str, grid: Any, block: Any, args: list[Any], shared: int = 0
) -> dict[str, Any]:
    return {
        "kernel": kernel, "block": _listed(block), "launch": {"dynamic_smem": shared},
        "launches": [{"grid": _listed(grid), "args": args}],
    }  # fmt: skip


def _listed(extents: Any) -> list[int]:
    return [extents] if isinstance(extents, int) else list(extents)


def _foreign(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """A kernel of another compiler."""
    cases = import_module("foreign.test_foreign").CASES
    case = rng.choice(cases)
    text = (seeds.ROOT / "test/foreign" / case.file).read_text(encoding="utf-8")
    args = [launching.described(arg, n) for n, arg in enumerate(case.args)]
    return text, _options(case.kernel, case.grid, case.block, args, case.shared)


@cache
def _compiled(name: str) -> tuple[str, Any]:
    import tilec
    from tilec.sim.ptx import read_text
    from tilec.tools.run_program import LoadedProgram

    made = tilec.compile(seeds.ROOT / "examples" / name)
    kernels = {kernel.name: kernel for kernel in made.kernels}
    return made.ptx, LoadedProgram(read_text(made.ptx), made.target.name, kernels)


def _example(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """A kernel that tilec compiles, on arrays of some extent."""
    import ml_dtypes  # noqa: F401 (numpy knows the names of its types then)
    import numpy as np
    from tilec.isa import TilecError
    from tilec.isa.launch import extents
    from tilec.launch.abi import TensorMap

    text, program = _compiled(rng.choice(_EXAMPLES))
    name = rng.choice(sorted(program.kernels))
    extent, values = rng.choice((16, 32, 64, 128)), []
    for one in program.kernels[name].arguments:
        if isinstance(one, TensorMap):
            continue
        if not hasattr(one, "shape"):
            values.append(rng.choice((1, 2, 16, 64)))
        elif one.type not in _TYPES:
            raise ValueError(one.type)
        else:
            most = extent if len(one.shape) < 3 else min(extent, 16)
            shape = [n or most for n in one.shape]
            values.append(np.zeros(shape, _TYPES[one.type]))
    try:
        grid = extents(program.grid(name, values), "grid")
        passed = program.passed(name, values, grid)
    except TilecError as error:
        raise ValueError(str(error)) from None
    args = [_map(arg) or launching.described(arg, n) for n, arg in enumerate(passed)]
    shared = program.dynamic_shared(name)
    return text, _options(name, grid, program.block(name) or 128, args, shared)


def _map(arg: Any) -> dict[str, Any] | None:
    """A tensor map as its bytes, with any address."""
    descriptor = getattr(arg, "descriptor", None)
    if descriptor is None:
        return None
    return {"kind": "bytes", "hex": bytes(descriptor.encode()).hex()}


def random_kernel(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """A kernel that a test of machine code makes by random numbers."""
    module = import_module(f"unit.sim.{rng.choice(_RANDOM)}")
    body = module.random_body(rng.randrange(1 << 30))
    text = module.text(body) if hasattr(module, "text") else module.HEAD + body + module.TAIL
    threads, ctas = rng.choice((32, 33, 64, 96, 100, 256)), rng.choice((1, 2, 3, 5))
    words = 16 * threads * ctas
    args: list[dict[str, Any]] = [
        {"kind": "array", "type": "uint32", "shape": [words], "seed": n}
        for n in range(text.partition("{")[0].count(".u64"))
    ]
    args.append({"kind": "number", "type": "uint32", "value": rng.choice((1, 2, 5))})
    return text, _options("k", ctas, threads, args)


def _other_numbers(text: str, rng: random.Random) -> str:
    """A number of the body, or two, in place of others."""
    start = text.find("{", text.find(".entry"))
    for _ in range(rng.choice((1, 1, 2))):
        places = [one for one in _NUMBER.finditer(text) if one.start() > start]
        if not places:
            break
        one = rng.choice(places)
        near = int(one[0]) + rng.choice((-16, -4, -1, 1, 4, 16, 64))
        new = rng.choice((near, rng.choice(_NUMBERS)))
        text = f"{text[: one.start()]}{new}{text[one.end() :]}"
    return text


# What is wrong


def _other_shared(options: dict[str, Any], rng: random.Random) -> None:
    before = options["launch"]["dynamic_smem"]
    options["launch"]["dynamic_smem"] = rng.choice(
        (0, 0, rng.randrange(before + 1), before // 2, before - before % 128 + 8, 1, 15, 17, 100)
    )


def _other_grid(one: dict[str, Any], rng: random.Random) -> None:
    one["grid"] = rng.choice(
        ([1], [2], [3], [1, 2], [2, 2], [4, 2], [1, 1, 3], [rng.randrange(1, 9)])
    )


def _other_block(options: dict[str, Any], rng: random.Random) -> None:
    options["block"] = rng.choice(
        ([1], [31], [32], [33], [64], [100], [128], [8, 4], [16, 2, 2], [rng.randrange(1, 300)])
    )
    if rng.random() < 0.15:
        options["launch"]["cluster"] = rng.choice(([1], [2], [4], [1, 2]))


def _other_arch(options: dict[str, Any], rng: random.Random) -> None:
    if rng.random() < 0.3:
        options["launch"]["arch"] = rng.choice(_ARCHS)


def _other_arguments(one: dict[str, Any], rng: random.Random) -> None:
    args = one["args"]
    if not args:
        return
    for _ in range(rng.choice((1, 1, 2, 3))):
        number = rng.randrange(len(args))
        before = args[number]
        match before["kind"]:
            case "array":
                args[number] = _other_array(before, number, rng)
            case "number" if isinstance(before["value"], int):
                near = before["value"] + rng.choice((-1, 1, 7, 64))
                wide = rng.getrandbits(rng.choice((8, 16, 31, 32, 62, 63, 64)))
                before["value"] = rng.choice((near, 0, -1, wide, -wide, *_NUMBERS))
                if before["type"]:
                    before["value"] &= 0xFFFF
            case "tuple":
                members = before["members"]
                at = rng.randrange(len(members))
                if members[at]["kind"] == "array":
                    members[at] = _other_array(members[at], number, rng)
                elif isinstance(members[at].get("value"), int):
                    members[at]["value"] = rng.choice((0, 1, 2, 127))
            case "null":
                args[number] = _pointer(rng)


def _pointer(rng: random.Random) -> dict[str, Any]:
    """A number where a pointer belongs: near an allocation, a window or where addresses wrap."""
    wraps = _GLOBAL + _WRAPS
    base = rng.choice((_GLOBAL, _GLOBAL + 256, _SHARED, _LOCAL, 0, wraps, wraps))
    above = (0, 4, rng.randrange(0, 4096, 4), rng.randrange(1 << 16))
    below = (4, 8, 16, 128, rng.randrange(0, 256, 8), rng.randrange(256))
    value = rng.choice((base + rng.choice(above), base - rng.choice(below)))
    value = rng.choice((value, value, value, rng.getrandbits(64)))
    return {"kind": "number", "type": "", "value": value % (1 << 64)}


def _other_array(array: dict[str, Any], number: int, rng: random.Random) -> dict[str, Any]:
    shape = array["shape"]
    what = rng.random()
    if what < 0.2:
        return {"kind": "null"}
    if what < 0.5:
        return _pointer(rng)
    if what < 0.6 and number:
        count = rng.choice((1, 16, 100, 1 << 20))
        return {
            "kind": "part",
            "of": rng.randrange(number),
            "first": rng.randrange(64),
            "count": count,
        }
    if what < 0.75:
        return {**array, "how": rng.choice(("read-only", "odd", "apart"))}
    shorter = [rng.choice((n, n, n // 2, max(n - 1, 0), 1, 0)) for n in shape]
    if what < 0.8:
        shorter = [n + rng.choice((1, 8)) for n in shape]
    return {**array, "shape": shorter}


def _make_smaller(grid: list[int], block: list[int]) -> None:
    """Fewer CTAs where there are many threads."""
    for axis in range(len(grid)):
        while prod(grid) * prod(block) > _MOST_THREADS and grid[axis] > 2:
            grid[axis] = grid[axis] // 2 & ~1 or 1


def run(case: Case) -> Reached:
    """Launch by both engines."""
    return Reached.RAN if launching.compare(case.text, case.options) else Reached.REFUSED
