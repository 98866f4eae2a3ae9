"""Whole kernels that must give the simulator's bits: the examples, and the GEMMs that are timed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import tilec
from device_run.arguments import launched
from device_run.matrix import BYTES, TYPES
from device_run.programs import Passed, Program
from tilec.isa import target as find_target
from tilec.isa.launch import extents

from .examples import EXAMPLES, Launch, inexact, tile_kernels
from .gemm_kernel import Configuration
from .kernels import GEMMS, IN_TURN, PINGPONG, compiled, fitted, given_by_launch, kinds_of
from .suite_programs import launches

_RAGGED = (129, 200, 72)
"""M, N and K that fill no tile, with rows of whole 16 bytes."""

# Of the matrices of an example: which two of M, N and K each is made of.
_ROWS = ("mk", "kn", "mn")
_B_TURNED = ("mk", "nk", "mn")

_SMS = 3
"""SMs on which CTAs that take several tiles are launched: few, so that they do."""

_NUMPY = {"f16": "<f2", "bf16": "<u2", "f32": "<f4", "f64": "<f8", "i32": "<i4", "i8": "|i1"}


class Packed:
    """Programs, and the data that they share.

    Args:
        target: that they are for.

    Attributes:
        data: of their arrays, one after the other; whole when `all` has come to its end.
    """

    def __init__(self, target: str) -> None:
        self.data = bytearray()
        self._target = target

    def all(self) -> Iterator[tuple[Program, str]]:
        """Every program, simulated and checked, and its PTX; for sm_80 and later."""
        for program, ptx in self._unchecked():
            result = program.simulate(ptx, bytes(self.data), self._target, checks=True)
            yield replace(program, digest=zlib.crc32(result)), ptx

    def _unchecked(self) -> Iterator[tuple[Program, str]]:
        example = self._example
        yield example("mma", "mma", (1,), (16, 8, 16), ("mk", "nk", "mn", "mn"))
        yield example("warp_gemm", "warp_gemm", (2, 3), (48, 32, 192), _ROWS)
        yield example("gemm", "gemm", (2, 2), (256, 256, 320), _ROWS)
        yield example("gemm_bounds", "gemm_bounds", (2, 2), _RAGGED, _ROWS)
        yield example("gemm_strides", "gemm_strides", (4, 3), _RAGGED, _ROWS)
        for kind, how in (("s8", _B_TURNED), ("bf16", _B_TURNED), ("tf32", _ROWS), ("f64", _ROWS)):
            yield example("families", f"gemm_{kind}", (3, 2), (32, 48, 64), how)
        for kind in kinds_of(find_target(self._target)):
            for level in (2, 1):
                how = fitted(Configuration((128, 128, 64), (4, 2), 3, group=2), kind)
                kernel = compiled(kind, how, self._target, level=level)
                m, n, k = 256, 256, 5 * how.tile[2]
                left = (m, k // 2) if kind.sparse else (m, k)
                shapes = [left, (n, k) if kind.n_by_k else (k, n), (m, n)]
                shapes += [(m, k // 8)] if kind.sparse else []
                grid = (2, 2) if level == 1 else (4,)
                yield _of_pools(kernel.name, kernel.ptx, kernel.fields, grid, shapes, result=2)
        yield from self.hopper()
        for one in chain(tile_kernels(self._target), launches(find_target(self._target))):
            yield self._of_arrays(one)

    def hopper(self) -> Iterator[tuple[Program, str]]:
        """Hopper's products of warpgroups, on matrices that fill no tile."""
        if self._target == "sm_90a":
            for name, kernel, grid in (
                ("gemm", "gemm", (2, 2)),
                ("gemm_cluster", "gemm", (2, 3)),
                ("tiles", "gemm_tiles", (2, 2)),
                ("persistent", "gemm_of_tiles", (_SMS,)),
            ):
                yield self._example(f"hopper/{name}", kernel, grid, (200, 264, 328), _B_TURNED)
            for kind in GEMMS:
                if kind.name in IN_TURN:  # seven tiles, of which CTAs have three or two
                    how = fitted(PINGPONG, kind)
                    made = compiled(kind, how, self._target, level=1)
                    m, n, k = 448, 256, 5 * how.tile[2]
                    shapes = [(m, k), (n, k) if kind.n_by_k else (k, n), (m, n)]
                    yield _of_pools(made.name, made.ptx, made.fields, (1, 7), shapes)

    def _example(
        self, name: str, kernel: str, grid: Sequence[int], sizes: Sequence[int], how: Sequence[str]
    ) -> tuple[Program, str]:
        """A kernel of a file, on matrices of normal numbers; the last is the result."""
        of = dict(zip("mnk", sizes, strict=True))
        shapes = [tuple(of[axis] for axis in axes) for axes in how]
        made = tilec.compile(EXAMPLES / f"{name}.mlir", target=self._target)
        (found,) = (k for k in made.kernels if k.name == kernel)
        title = name.replace("/", "-") if "/" in name else kernel
        return _of_pools(title, made.ptx, found.json(), grid, shapes)

    def _of_arrays(self, one: Launch) -> tuple[Program, str]:
        """A launch whose arrays are packed as they are."""
        passed: list[Passed] = []
        arguments = one.kernel.json()["arguments"]
        maps = [argument for argument in arguments if argument["kind"] == "tensor_map"]
        others = given_by_launch(arguments)
        places: list[int] = []
        for argument, given in zip(others, one.arguments, strict=True):
            places.append(len(passed))
            if argument["kind"] == "scalar":
                type_ = "i64" if argument["type"] == "index" else argument["type"]
                passed.append(Passed(value=given.item(), type=type_))
                continue
            memory = given if given.base is None else given.base
            start = len(self.data)
            self.data += memory.tobytes()
            written = given is one.result
            passed.append(Passed(memory.nbytes, start=start, written=written))
            strides = [step // given.itemsize for step in given.strides]
            passed += _left_open(argument, given.shape, strides)
        passed += _extents(one.kernel.json(), one.grid)
        for map_ in maps:
            array = one.arguments[map_["array"]]
            described = {"array": places[map_["array"]], "type": map_["type"]}
            described |= {"shape": list(array.shape), "strides": list(array.strides)}
            described |= {"box": map_["box"], "swizzle": map_["swizzle"]}
            passed.append(Passed(map=described))
        tolerance = one.tolerance if inexact(one.ptx) else 0.0
        type_ = one.result.dtype.str if one.result.dtype.kind in "fiu" else "<u2"
        file = f"tiles-{one.file}"
        described = one.kernel.json()
        return _made(one.name, file, one.ptx, described, one.grid, passed, type_, tolerance)


def _of_pools(
    name: str,
    ptx: str,
    kernel: Mapping[str, Any],
    grid: Sequence[int],
    shapes: Sequence[tuple[int, ...]],
    result: int = -1,
) -> tuple[Program, str]:
    """A launch on dense matrices out of the pools.

    Args:
        name: of the program.
        ptx: the text.
        kernel: what the ABI says of it.
        grid: CTAs.
        shapes: of the matrices it takes.
        result: which of them it writes.
    """
    passed: list[Passed] = []
    result %= len(shapes)
    type_ = _NUMPY[kernel["arguments"][result]["type"]]
    maps = [one for one in kernel["arguments"] if one["kind"] == "tensor_map"]
    places = []
    given = given_by_launch(kernel["arguments"])
    for number, (argument, (rows, cols)) in enumerate(zip(given, shapes, strict=True)):
        places.append(len(passed))
        size = rows * cols * BYTES.get(argument["type"], 8)
        written = number == result
        pool = "" if written else _pool(argument)
        passed.append(Passed(size, pool=pool, seed=number, written=written))
        passed += _left_open(argument, (rows, cols), (cols, 1))
    passed += _extents(kernel, grid)
    for one in maps:
        size, (rows, cols) = BYTES[one["type"]], shapes[one["array"]]
        described = {"array": places[one["array"]], "type": one["type"], "shape": [rows, cols]}
        described |= {"strides": [cols * size, size], "box": one["box"], "swizzle": one["swizzle"]}
        passed.append(Passed(map=described))
    return _made(name, name, ptx, kernel, grid, passed, type_)


def _made(
    name: str,
    file: str,
    ptx: str,
    kernel: Mapping[str, Any],
    grid: Sequence[int],
    passed: Sequence[Passed],
    result: str,
    tolerance: float = 0.0,
) -> tuple[Program, str]:
    ctas = extents(launched(kernel, extents(grid, "grid"), _SMS), "grid")
    program = Program(
        name,
        kernel.get("kernel", kernel["name"]),
        f"programs/{file}.ptx",
        ctas,
        tuple(kernel["block"]),
        kernel["dynamic_shared"],
        tuple(passed),
        result,
        tolerance,
    )
    return program, ptx


def _left_open(
    argument: Mapping[str, Any], shape: Sequence[int], strides: Sequence[int]
) -> list[Passed]:
    """The extents and strides of an array that a kernel leaves open."""
    known = (*argument["shape"], *argument["strides"], argument["offset"])
    given = (*shape, *strides, 0)
    return [Passed(value=v) for v, k in zip(given, known, strict=True) if k is None]


def _extents(kernel: Mapping[str, Any], grid: Sequence[int]) -> list[Passed]:
    """The extents of the grid that a kernel takes."""
    given = extents(grid, "grid")
    axes = (one["axis"] for one in kernel["arguments"] if one["kind"] == "grid")
    return [Passed(value=given[axis], type="i32") for axis in axes]


def _pool(argument: Mapping[str, Any]) -> str:
    if argument["name"] == "e":
        return "codes:4"
    if argument["type"][0] == "i":
        return "bits"
    return f"normal:{TYPES.get(argument['type'], argument['type'])}"
