"""Runs random programs as a process of their user would, and says what is wrong.

    python state_process.py FOLDER EDITED LINES FIRST COUNT [FOUND]

runs the programs of COUNT seeds in a folder, as edited, with the cache on disk that the
environment names; FOUND says that each must be found there.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import random
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import tilec
import tilec.lang as tl
from state_programs import Program
from state_ways import WAYS
from tilec import driver
from tilec.cache import fingerprint
from tilec.frontend.contexts import new_context
from tilec.frontend.inputs import Input
from tilec.isa import TARGETS
from tilec.lang import build as building
from tilec.options import Options

RUNS = ((0, 0, False), (0, 40, True), (1, 0, False), (0, 3, True))
"""Of the processes that run a program: which of its values are the first, how many lines it is
moved, and whether it must be found in the cache."""
__all__ = ["RUNS", "WAYS", "Process", "Program", "run_everywhere"]
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

    def __init__(self, given: Input, _options: Options) -> None:
        self.module, self.facts = given.build(_context)
        self.ptx = text(self.module)
        self.abi = _abi()
        self.remarks: tuple[()] = ()
        self.kernels = (SimpleNamespace(name="kernel"),)
        self.target = TARGETS["sm_80"]

    def emit(self, stage: object) -> None:
        """Nothing is to be made."""


@cache
def _context() -> Any:
    """One for all: to make another takes longer than to build a program."""
    return new_context()


def text(module: Any) -> str:
    """A program without places, below the word by which the cache knows PTX."""
    return "// .version 9.0\n" + _PLACES.sub("", str(module))


class Process:
    """A program as one process runs it.

    Attributes:
        problems: what was wrong.
        builds: how often the kernel was built.

    Args:
        folder: where to write it.
        program: what to run.
        edited: which of its values are the first.
        lines: empty lines before everything.
        real: compile kernels and run them, rather than look at what would be compiled.
    """

    def __init__(
        self, folder: Path, program: Program, edited: int, lines: int, *, real: bool = False
    ) -> None:
        self.problems: list[str] = []
        self.builds = 0
        self._program = program
        self._real = real
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
        shutil.rmtree(self._folder)
        return self.problems

    def _change(self, module: ModuleType, number: int, turn: int) -> None:
        if self._program.reads[number].way.change:
            getattr(module, f"change_{number}_{turn}")()
            self._turns[number] = turn

    def _launch(self, module: ModuleType, when: str, builds: int | None) -> None:
        """Launch; note what is wrong, and builds beyond so many."""
        before = self.builds
        try:
            numbers, same = self._simulated(module) if self._real else self._built(module)
        except Exception as error:
            self.problems.append(f"{when}: {type(error).__name__}: {error}")
            return
        known = [eval(one, vars(module)) if one else None for one in self._expected()]
        expected = [module.code(value) for value in known]
        wrong = [
            (number, value)
            for number, value, one in zip(numbers, expected, self._expected(), strict=True)
            if one and number != value
        ]
        if not same or wrong:
            self.problems.append(f"{when}: gives {numbers}, not {expected}")
        made = self.builds - before - (not self._real)  # one is the truth
        if builds is not None and made > builds:
            said = module.kernel.explain(**module.constants()).splitlines()[-1]
            self.problems.append(f"{when}: built {made} times, though nothing changed: {said}")

    def _built(self, module: ModuleType) -> tuple[list[float], bool]:
        """The numbers of the program that is compiled, and whether it is what is built now."""
        got = module.kernel.compile(**module.constants()).ptx
        truth = text(module.kernel.build(**module.constants()).module)
        return [float(number) for number in _NUMBER.findall(got)], got == truth

    def _simulated(self, module: ModuleType) -> tuple[list[float], bool]:
        """The numbers that the kernel stores."""
        x = np.zeros(16 * len(self._turns), np.float32)
        module.kernel.using(device="sim")[1](x, **module.constants())
        return [float(number) for number in x[::16]], True

    def _expected(self) -> list[str]:
        return self._program.expected(self._turns)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count builds, and compile nothing."""
        if not self._real:
            _abi()
        plain, start = building.build, driver._started

        def build(*arguments: Any, context: Any = None, **settings: Any) -> Any:
            self.builds += 1
            return plain(*arguments, context=context if self._real else _context(), **settings)

        building.build = build
        if not self._real:
            driver._started = Uncompiled
        try:
            yield
        finally:
            building.build, driver._started = plain, start


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


def run_everywhere(folder: Path, seed: int, program: Program, *, real: bool = False) -> list[str]:
    """Run a program as each of `RUNS`, all of them in this process; what was wrong."""
    problems = []
    for number, (edited, lines, found) in enumerate(RUNS):
        process = Process(folder / f"{seed}-{number}", program, edited, lines, real=real)
        problems += process.run(seed, found=found and program.recorded and program.moves)
    return problems


def main() -> None:
    """What the module says."""
    folder, edited, lines, first, count, *found = sys.argv[1:]
    for seed in range(int(first), int(first) + int(count)):
        program = Program(seed)
        place = Path(folder) / str(seed)
        process = Process(place, program, int(edited), int(lines))
        kept = program.portable and program.moves
        for problem in process.run(seed, found=bool(found) and kept):
            print(f"{seed}: {[read.way.name for read in program.reads]}: {problem}")


sys.dont_write_bytecode = True  # files of one second and size would be taken for one another
if __name__ == "__main__":
    fingerprint._python_files = tuple  # whoever edits tilec while the tests run is not seen
    main()
