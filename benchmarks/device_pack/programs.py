"""Whole kernels that must give the simulator's bits: the examples, and those that are timed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tilec
from device_run.matrix import BYTES, TYPES
from device_run.programs import Passed, Program
from tilec.isa import target as find_target
from tilec.isa.launch import extents

from .gemm_kernel import Configuration
from .kernels import compiled, fitted, kinds_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

_RAGGED = (129, 200, 72)
"""M, N and K that fill no tile, with rows of whole 16 bytes."""

# Of the matrices of an example: which two of M, N and K each is made of.
_ROWS = ("mk", "kn", "mn")
_B_TURNED = ("mk", "nk", "mn")


def programs(target: str) -> Iterator[tuple[Program, str]]:
    """Every program, simulated and checked, and its PTX; for sm_80 and later."""
    for program, ptx in _unchecked(target):
        result = program.simulate(ptx, target, checks=True)
        yield replace(program, digest=zlib.crc32(result)), ptx


def _unchecked(target: str) -> Iterator[tuple[Program, str]]:
    def example(
        name: str, kernel: str, grid: Sequence[int], sizes: Sequence[int], how: Sequence[str]
    ) -> tuple[Program, str]:
        of = dict(zip("mnk", sizes, strict=True))
        shapes = [tuple(of[axis] for axis in axes) for axes in how]
        made = tilec.compile(EXAMPLES / f"{name}.mlir", target=target)
        (found,) = (k for k in made.kernels if k.name == kernel)
        return _program(kernel, made.ptx, found.json(), grid, shapes)

    yield example("mma", "mma", (1,), (16, 8, 16), ("mk", "nk", "mn", "mn"))
    yield example("warp_gemm", "warp_gemm", (2, 3), (48, 32, 192), _ROWS)
    yield example("gemm", "gemm", (2, 2), (256, 256, 320), _ROWS)
    yield example("gemm_bounds", "gemm_bounds", (2, 2), _RAGGED, _ROWS)
    yield example("gemm_strides", "gemm_strides", (4, 3), _RAGGED, _ROWS)
    for kind, how in (("s8", _B_TURNED), ("bf16", _B_TURNED), ("tf32", _ROWS), ("f64", _ROWS)):
        yield example("families", f"gemm_{kind}", (3, 2), (32, 48, 64), how)
    for kind in kinds_of(find_target(target)):
        for level in (2,) if kind.sparse else (2, 1):
            how = fitted(Configuration((128, 128, 64), (4, 2), 3, group=2), kind)
            kernel = compiled(kind, how, target, level=level)
            m, n, k = 256, 256, 5 * how.tile[2]
            left = (m, k // 2) if kind.sparse else (m, k)
            shapes = [left, (n, k) if kind.n_by_k else (k, n), (m, n)]
            shapes += [(m, k // 8)] if kind.sparse else []
            yield _program(kernel.name, kernel.ptx, kernel.fields, (4,), shapes, written=2)


def _program(
    name: str,
    ptx: str,
    kernel: Mapping[str, Any],
    grid: Sequence[int],
    shapes: Sequence[tuple[int, ...]],
    written: int = -1,
) -> tuple[Program, str]:
    """A launch of a kernel on dense arrays of these shapes.

    Args:
        name: of the program, and of its file.
        ptx: the text.
        kernel: what the ABI says of it.
        grid: CTAs.
        shapes: of the arrays it takes.
        written: which of them is the result.
    """
    passed: list[Passed] = []
    written %= len(shapes)
    pairs = zip(kernel["arguments"], shapes, strict=True)
    for number, (argument, (rows, cols)) in enumerate(pairs):
        item = BYTES.get(argument["type"], 8)
        pool = "" if number == written else _pool(argument)
        passed.append(Passed(rows * cols * item, pool=pool, seed=number, item=item))
        known = (*argument["shape"], *argument["strides"], argument["offset"])
        given = (rows, cols, cols, 1, 0)
        passed += [Passed(value=v) for v, k in zip(given, known, strict=True) if k is None]
    made = Program(
        name,
        kernel.get("kernel", kernel["name"]),
        f"programs/{name}.ptx",
        extents(grid, "grid"),
        tuple(kernel["block"]),
        kernel["dynamic_shared"],
        tuple(passed),
    )
    return made, ptx


def _pool(argument: Mapping[str, Any]) -> str:
    if argument["name"] == "e":
        return "codes:4"
    if argument["type"][0] == "i":
        return "bits"
    return f"normal:{TYPES.get(argument['type'], argument['type'])}"
