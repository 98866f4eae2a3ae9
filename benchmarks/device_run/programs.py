"""The section `programs`: whole kernels, bit by bit as simulated, and every time the same."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from tilec.sim import launch

from .driver import Cuda, Function
from .pack import Pack
from .pools import piece
from .trial import POISON

Row = dict[str, Any]

REPEATS = 5
"""Times that a kernel is run; a race between its threads may show only in some."""


@dataclass(frozen=True)
class Passed:
    """What a launch passes for a parameter: memory, or an integer of 64 bits.

    Attributes:
        bytes: of the memory; 0 for an integer.
        value: the integer.
        pool: that the memory is filled from; empty for the result.
        seed: of the piece.
        item: bytes of an element.
    """

    bytes: int = 0
    value: int = 0
    pool: str = ""
    seed: int = 0
    item: int = 1

    def content(self) -> np.ndarray | int:
        """What the simulator takes."""
        if not self.bytes:
            return self.value
        if not self.pool:
            return np.full(self.bytes, POISON, np.uint8)
        return piece(self.pool, self.seed, self.bytes)


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
        digest: a checksum of the result.
    """

    name: str
    kernel: str
    file: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    passed: tuple[Passed, ...]
    digest: int = 0

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Program:
        """The program that `asdict` gave."""
        passed = tuple(Passed(**one) for one in fields["passed"])
        extents = {name: tuple(fields[name]) for name in ("grid", "block")}
        return cls(**{**fields, **extents, "passed": passed})

    def simulate(self, ptx: str, arch: str, *, checks: bool) -> np.ndarray:
        """The bytes of the result.

        Raises:
            SimulationError: if the simulator finds anything wrong with the kernel.
        """
        contents = [one.content() for one in self.passed]
        options = {"arch": arch, "dynamic_smem": self.shared, "checks": checks}
        launch(ptx, self.kernel, self.grid, self.block, contents, **options).require_ok()
        return self._result(contents)

    def execute(self, cuda: Cuda, function: Function) -> np.ndarray:
        """The same on a GPU."""
        contents = [one.content() for one in self.passed]
        places: dict[int, int] = {}
        try:
            values: list[Any] = []
            for number, content in enumerate(contents):
                if isinstance(content, int):
                    values.append(ctypes.c_int64(content))
                    continue
                places[number] = cuda.alloc(content.nbytes)
                cuda.upload(places[number], content)
                values.append(ctypes.c_uint64(places[number]))
            cuda.launch(function, self.grid, self.block, values)
            cuda.synchronize()
            result = self._result(contents)
            cuda.download(places[self._written], result)
        finally:
            for place in places.values():
                cuda.free(place)
        return result

    @property
    def _written(self) -> int:
        (found,) = (n for n, one in enumerate(self.passed) if one.bytes and not one.pool)
        return found

    def _result(self, contents: Sequence[Any]) -> np.ndarray:
        array: np.ndarray = contents[self._written]
        return array

    @property
    def item(self) -> int:
        """Bytes of an element of the result."""
        return self.passed[self._written].item


def run(cuda: Cuda, pack: Pack) -> Iterator[Row]:
    """A row for each program."""
    for fields in pack.read("programs.json"):
        program = Program.of(fields)
        ptx = pack.text(program.file)
        function = cuda.function(cuda.load(ptx), program.kernel, program.shared)
        found = {}
        for _ in range(REPEATS):
            result = program.execute(cuda, function)
            found[zlib.crc32(result)] = result
        wrong = []
        if set(found) != {program.digest}:
            result = next(r for digest, r in found.items() if digest != program.digest)
            wrong = [_wrong(program, result, len(found), ptx, pack.target)]
        yield {"program": program.name, "runs": REPEATS, "wrong": wrong}


def _wrong(program: Program, result: np.ndarray, kinds: int, ptx: str, arch: str) -> Row:
    """What is wrong with a result."""
    got, want = (
        array.view(f"u{program.item}")
        for array in (result, program.simulate(ptx, arch, checks=False))
    )
    places = np.flatnonzero(got != want)
    head = f"{program.name}: {len(places)} of {len(want)} elements differ"
    if kinds > 1:
        head += f"; {REPEATS} runs gave {kinds} results"
    if len(places):
        at = int(places[0])
        head += f"; first: element {at}: {got[at]:#x}, not {want[at]:#x}"
    return {"elements": places[:64].tolist(), "message": head}


def described(program: Program) -> dict[str, Any]:
    """A program as JSON has it."""
    return asdict(program)
