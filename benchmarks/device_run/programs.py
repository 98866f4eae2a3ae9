"""The section `programs`: whole kernels, bit by bit as simulated, and every time the same.

Functions that are approximate may have other bits on a GPU: kernels that call them are held to a
tolerance.
"""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from tilec.sim import launch

from .driver import Cuda, DeviceError, Function
from .pack import Pack
from .pools import piece
from .tensor_maps import simulated_map
from .trial import POISON

Row = dict[str, Any]

REPEATS = 5
"""Times that a kernel is run; a race between its threads may show only in some."""

_SCALARS = {"i64": ctypes.c_int64, "i32": ctypes.c_int32, "f32": ctypes.c_float}


@dataclass(frozen=True)
class Passed:
    """What a launch passes for a parameter: memory, a scalar, or a tensor map.

    Attributes:
        bytes: of the memory; 0 for a scalar.
        pool: that the memory is filled from, with `seed`.
        seed: of the piece.
        start: where it begins in the pack's data, if it is there; -1 if not.
        written: whether it is the result.
        value, type: of a scalar.
        map: of a tensor map, `described_map` says what; empty of all else.
    """

    bytes: int = 0
    pool: str = ""
    seed: int = 0
    start: int = -1
    written: bool = False
    value: float = 0
    type: str = "i64"
    map: Mapping[str, Any] = field(default_factory=dict)

    def content(self, data: bytes) -> np.ndarray:
        """The memory, as it is before a run."""
        if self.pool:
            return piece(self.pool, self.seed, self.bytes).copy()  # aligned as an allocation
        if self.start >= 0:
            return np.frombuffer(data, np.uint8, self.bytes, self.start).copy()
        return np.full(self.bytes, POISON, np.uint8)


@dataclass(frozen=True)
class Program:
    """A kernel with a launch and what must come of it.

    Attributes:
        name: of the program.
        kernel: its `.entry`.
        file: of its PTX, in the pack.
        grid, block: CTAs and their threads.
        shared: bytes of dynamic shared memory.
        passed: a value for each parameter.
        result: numpy's type string of the result's elements.
        tolerance: how far they may be off, over the largest; 0 if every bit counts.
        digest: a checksum of the result.
    """

    name: str
    kernel: str
    file: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    passed: tuple[Passed, ...]
    result: str
    tolerance: float = 0.0
    digest: int = 0

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Program:
        """The program that `json` gave."""
        passed = tuple(Passed(**one) for one in fields["passed"])
        extents = {name: tuple(fields[name]) for name in ("grid", "block")}
        return cls(**{**fields, **extents, "passed": passed})

    def json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return asdict(self)

    def simulate(self, ptx: str, data: bytes, arch: str, *, checks: bool) -> np.ndarray:
        """The bytes of the result.

        Raises:
            SimulationError: if the simulator finds anything wrong with the kernel.
        """
        given: list[Any] = []
        for one in self.passed:
            if one.map:
                given.append(simulated_map(one.map, given[one.map["array"]]))
            else:
                scalar = _SCALARS[one.type](one.value).value
                given.append(one.content(data) if one.bytes else scalar)
        options = {"arch": arch, "dynamic_smem": self.shared, "checks": checks}
        launch(ptx, self.kernel, self.grid, self.block, given, **options).require_ok()
        return self._result(given)

    def execute(self, cuda: Cuda, function: Function, data: bytes) -> np.ndarray:
        """The same on a GPU."""
        places: list[int] = []
        values: list[Any] = []
        contents: list[Any] = []
        try:
            for one in self.passed:
                contents.append(one.content(data) if one.bytes else None)
                if one.map:
                    values.append(cuda.tensor_map(one.map, values[one.map["array"]].value))
                    continue
                if not one.bytes:
                    value = one.value if one.type[0] == "f" else int(one.value)
                    values.append(_SCALARS[one.type](value))
                    continue
                places.append(cuda.alloc(one.bytes))
                cuda.upload(places[-1], contents[-1])
                values.append(ctypes.c_uint64(places[-1]))
            cuda.launch(function, self.grid, self.block, values)
            cuda.synchronize()
            result = self._result(contents)
            cuda.download(self._result(values).value, result)
        finally:
            for place in places:
                cuda.free(place)
        return result

    def _result(self, values: Sequence[Any]) -> Any:
        """Of something for each parameter that of the result."""
        (found,) = (v for v, one in zip(values, self.passed, strict=True) if one.written)
        return found

    def wrong(self, got: np.ndarray, want: np.ndarray) -> np.ndarray:
        """Which elements of a result are wrong."""
        if not self.tolerance:
            item = np.dtype(self.result).itemsize
            return np.flatnonzero(got.view(f"u{item}") != want.view(f"u{item}"))
        got, want = (array.view(self.result).astype(np.float64) for array in (got, want))
        off = np.abs(got - want)
        return np.flatnonzero(~(off <= self.tolerance * np.abs(want).max()))


def run(cuda: Cuda, pack: Pack, first: int = 0, end: int | None = None) -> Iterator[Row]:
    """A row for each program from the first to that before the end."""
    data = (pack.folder / "programs.bin").read_bytes()
    modules: dict[str, Any] = {}
    for program in map(Program.of, pack.read("programs.json")[first:end]):
        ptx = pack.text(program.file)
        try:
            if program.file not in modules:
                modules[program.file] = cuda.load(ptx)
            function = cuda.function(modules[program.file], program.kernel, program.shared)
            yield _row(cuda, program, function, ptx, data, pack.target)
        except DeviceError as error:
            yield {"failure": f"{program.name}: {error}"}


def _row(cuda: Cuda, program: Program, function: Function, ptx: str, data: bytes, arch: str) -> Row:
    found = {}
    for _ in range(REPEATS):
        result = program.execute(cuda, function, data)
        found[zlib.crc32(result)] = result
    wrong = []
    if set(found) != {program.digest}:
        want = program.simulate(ptx, data, arch, checks=False)
        wrong = _wrong(program, list(found.values()), want)
    return {"program": program.name, "runs": REPEATS, "wrong": wrong}


def _wrong(program: Program, results: Sequence[np.ndarray], want: np.ndarray) -> list[Row]:
    """What is wrong with different results."""
    off = [(result, program.wrong(result, want)) for result in results]
    got, places = max(off, key=lambda pair: len(pair[1]))
    if not len(places) and (program.tolerance or len(results) == 1):
        return []
    item = np.dtype(program.result).itemsize
    said = f"{program.name}: {len(places)} of {len(want) // item} elements differ"
    if len(results) > 1:
        said += f"; {REPEATS} runs gave {len(results)} results"
    if len(places):
        at = int(places[0])
        bits = [int(array.view(f"u{item}")[at]) for array in (got, want)]
        said += f"; first: element {at}: {bits[0]:#x}, not {bits[1]:#x}"
    return [{"elements": places[:64].tolist(), "message": said}]
