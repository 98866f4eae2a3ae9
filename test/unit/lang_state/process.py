"""Runs random programs as a process of their user would, and says what is wrong.

    python process.py FOLDER EDITED LINES FIRST COUNT [FOUND]

runs the programs of COUNT seeds in a folder, as edited, with the cache on disk that the
environment names; FOUND says that each must be found there.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import tilec
import tilec.lang as tl
from programs import Program
from tilec import fingerprint
from tilec.isa import TARGETS
from tilec.lang import compilations

_PLACES = re.compile(r" ?loc\(.*\)$|^#loc.*$", re.MULTILINE)
_NUMBER = re.compile(r"dense<([^>]*)>")


@cache
def _abi() -> str:
    """That of a kernel with one array of rank 1, as all programs have it."""
    return str(_one.using(cache=False).compile().abi)


@tilec.kernel
def _one(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.full(16, 1.0))


class Uncompiled:
    """A compilation whose PTX is the program: what a compiler would be given."""

    def __init__(self, program: Any) -> None:
        self.ptx = text(program.module)
        self.abi = _abi()
        self.remarks: tuple[()] = ()
        self.kernels = (SimpleNamespace(name="kernel"),)
        self.target = TARGETS["sm_80"]
        self._source = program.module

    def emit(self, stage: object) -> None:
        """Nothing is to be made."""


def text(module: Any) -> str:
    """A program without places."""
    return _PLACES.sub("", str(module))


class Process:
    """A program as one process runs it.

    Attributes:
        problems: what was wrong.
        builds: how often the kernel was built.
    """

    def __init__(self, folder: Path, program: Program, edited: int, lines: int) -> None:
        self.problems: list[str] = []
        self.builds = 0
        self._program = program
        self._turns = [edited] * len(program.reads)
        folder.mkdir(parents=True)
        for name, content in program.files(edited=edited, lines=lines).items():
            (folder / name).write_text(content)
        self._folder = folder

    def run(self, seed: int, *, found: bool) -> list[str]:
        """Launch, and change values between launches; what was wrong."""
        chance = random.Random(seed)
        with _inside(self._folder), self._counted():
            module = _imported(self._folder / "program.py")
            self._launch(module, "first", 0 if found else None)
            recorded = self._program.recorded
            self._launch(module, "again", 0 if recorded else None)
            picked = chance.randrange(len(self._turns))
            before = self._turns[picked]
            for turn in (chance.randrange(3), chance.randrange(3)):
                self._change(module, picked, turn)
                self._launch(module, f"changed {picked} to {turn}", None)
            self._change(module, picked, before)
            self._launch(module, f"changed {picked} back", None)
            self._change(module, picked, before)
            self._launch(module, f"made {picked} anew", 0 if recorded else None)
        return self.problems

    def _change(self, module: ModuleType, number: int, turn: int) -> None:
        if self._program.reads[number].way.change:
            getattr(module, f"change_{number}_{turn}")()
            self._turns[number] = turn

    def _launch(self, module: ModuleType, when: str, builds: int | None) -> None:
        """Launch; note what is wrong, and builds beyond so many."""
        kernel, constants = module.kernel, module.constants()
        before = self.builds
        try:
            got = kernel.compile(**constants).ptx
            made = self.builds - before
            truth = text(kernel.build(**constants).module)
        except Exception as error:
            self.problems.append(f"{when}: {type(error).__name__}: {error}")
            return
        numbers = [float(number) for number in _NUMBER.findall(got)]
        known = [eval(one, vars(module)) if one else None for one in self._expected()]
        expected = [module.code(value) for value in known]
        wrong = [
            (number, value)
            for number, value, one in zip(numbers, expected, self._expected(), strict=True)
            if one and number != value
        ]
        if got != truth or wrong:
            self.problems.append(f"{when}: {numbers}, not {expected}")
        if builds is not None and made > builds:
            said = kernel.explain(**constants).splitlines()[-1]
            self.problems.append(f"{when}: built {made} times, though nothing changed: {said}")

    def _expected(self) -> list[str]:
        return self._program.expected(self._turns)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count builds, and compile nothing."""
        _abi()

        def built(*arguments: Any) -> Any:
            self.builds += 1
            return build(*arguments)

        compilations._built = built
        compilations._lowered = lambda program, _: Uncompiled(program)
        try:
            yield
        finally:
            compilations._built, compilations._lowered = build, lower


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """In a folder, whose modules are imported anew; the environment is left as it was."""
    before, environment = Path.cwd(), dict(os.environ)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        os.chdir(before)
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.startswith(("program", "other"))]:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(folder)):
                del sys.modules[name]
        os.environ.clear()
        os.environ.update(environment)
        linecache.clearcache()


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["program"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """What the module says."""
    folder, edited, lines, first, count, *found = sys.argv[1:]
    for seed in range(int(first), int(first) + int(count)):
        program = Program(seed)
        place = Path(folder) / str(seed)
        process = Process(place, program, int(edited), int(lines))
        for problem in process.run(seed, found=bool(found) and program.portable):
            print(f"{seed}: {[read.way.name for read in program.reads]}: {problem}")


sys.dont_write_bytecode = True  # files of one second and size would be taken for one another
if __name__ == "__main__":
    fingerprint._python_files = tuple  # whoever edits tilec while the tests run is not seen
    main()
