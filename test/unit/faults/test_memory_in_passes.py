"""Memory that ends inside a pass, wherever: one line, exit code 1, nothing left, and no harm.

`MemoryError` is raised by a call of one of the pass's own functions, as Python raises it where an
object finds no room. The commands run in this process, so that each begins with what the one
before has left of the library.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from tilec.isa import target
from tilec.passes import pipeline
from tilec.pipelines import pipeline as pipeline_of
from tilec.tools import tile_opt, tilec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
_ROOT = Path(pipeline.__file__).resolve().parents[1]
FOLDERS = tuple(str(_ROOT / name) + "/" for name in ("passes", "dialects", "ir", "layout"))
TILES = {"sm_80": EXAMPLES / "kernels" / "gemm.mlir", "sm_90a": EXAMPLES / "hopper" / "tiles.mlir"}
"""Programs for whose target all passes of its pipeline run."""


@cache
def may_fail(code: CodeType) -> bool:
    """Whether it is a function that passes call: not a generator, which is called to be closed.

    Nor that which MLIR calls for a walk.
    """
    file = os.path.realpath(code.co_filename)
    return file.startswith(FOLDERS) and not (
        code.co_flags & inspect.CO_GENERATOR or file.endswith("/ir/visits.py")
    )


class Calls:
    """The calls of functions of `tilec.passes` and of what they use, by the pass that runs.

    Attributes:
        counts: how many each pass made.
        last: the pass and the call of it that finds no memory.
        met: whether there was such a call.
    """

    def __init__(self, last: tuple[str, int] = ("", 0)) -> None:
        self.counts: Counter[str] = Counter()
        self.last = last
        self.met = False
        self._of = ""

    @contextmanager
    def running(self, name: str, *rest: Any) -> Iterator[None]:
        """In the place of what notes that a pass runs."""
        self._of = name
        sys.setprofile(self._called)
        try:
            with _running(name, *rest):
                yield
        finally:
            sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and may_fail(frame.f_code):
            self.counts[self._of] += 1
            if (self._of, self.counts[self._of]) == self.last:
                self.met = True
                raise MemoryError


_running = pipeline.running
Command = Callable[[], int]


def command(name: str, chip: str, folder: Path) -> Command:
    """A command that runs all passes of a target."""
    program, out = str(TILES[chip]), str(folder / "out")
    if name == "tilec":
        words = [program, "--target", chip, "-o", out, "--remarks-output", str(folder / "r.yaml")]
        return lambda: tilec.main(words)
    words = [program, f"--pass-pipeline={pipeline_of(target(chip))}", "-o", out]
    return lambda: tile_opt.main(words)


def run(command: Command, calls: Calls) -> int:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "running", calls.running)
        return command()


@pytest.mark.parametrize(
    ("name", "chip", "places"),
    [
        ("tilec", "sm_80", [2]),
        *(
            pytest.param(name, chip, [0, 1, 2, 3, 4], marks=pytest.mark.slow)
            for name in ("tilec", "tile-opt")
            for chip in TILES
        ),
    ],
)
def test_memory_ends_in_each_pass(
    name: str, chip: str, places: list[int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    started = command(name, chip, tmp_path)
    assert run(started, Calls()) == 0  # what is known of types and layouts is looked up no more
    calls = Calls()
    assert run(started, calls) == 0
    whole = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert whole
    assert len(calls.counts) > 20
    for path in tmp_path.iterdir():
        path.unlink()
    capfd.readouterr()
    for of, count in calls.counts.items():
        for at in sorted({1 + (count - 1) * place // 4 for place in places}):
            failing = Calls((of, at))
            code = run(started, failing)
            said = capfd.readouterr().err
            assert failing.met, (of, at)
            assert (code, said) == (1, "error: not enough memory\n"), (of, at)
            assert not list(tmp_path.iterdir()), (of, at)
    assert run(started, Calls()) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == whole
