"""What a reduction keeps: a finding, a miscompilation, a crash, or what a command says."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tilec.ending import undone
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa import TilecError
from tilec.passes.base import Pass, ProgramError
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source
from tilec.validation.validator import Validator

Interest: TypeAlias = Callable[[str], bool]
"""Whether the text of a program still shows what is looked for; never raises."""

SECONDS = 60
"""What a command or a compilation of a process of its own has."""


@dataclass(frozen=True)
class Command:
    """A command that is given the program's file last, and exits with 0 if it is interesting.

    Attributes:
        words: the command.
        seconds: what it has; one that takes longer is not interesting.
    """

    words: Sequence[str]
    seconds: float = SECONDS

    def __call__(self, text: str) -> bool:
        """Run it."""
        done = _run(self.words, text, self.seconds)
        return done is not None and done.returncode == 0


@dataclass(frozen=True)
class Crash:
    """A command ends by a signal, or by an internal error, as it did at first.

    Attributes:
        words: the command, without the file.
        seconds: what it has.
    """

    words: Sequence[str]
    seconds: float = SECONDS
    _first: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> bool:
        """Run it, and compare how it ends with the first time."""
        done = _run(self.words, text, self.seconds)
        if done is None:
            return False
        kind = signature(done.returncode, done.stderr)
        if not self._first:
            self._first.append(kind)
        return bool(kind) and kind == self._first[0]


def signature(code: int, errors: str) -> str:
    """How a process crashed; empty if it did not."""
    internal = re.search(r"internal error: (\w+)|^(\w+Error|\w*Exception)\b", errors, re.MULTILINE)
    if code < 0 or code >= 128:
        found = re.search(r"pass '([^']+)'", errors)
        return f"signal {code % 128 if code > 0 else -code} {found.group(1) if found else ''}"
    return internal.group(0) if internal and code else ""


def _run(
    words: Sequence[str], text: str, seconds: float
) -> subprocess.CompletedProcess[str] | None:
    """A command on a file with the text; None if it takes too long."""
    made = tempfile.TemporaryDirectory(prefix="tile-reduce-")
    with made as folder, undone(made.cleanup):
        path = Path(folder, "reduced.mlir")
        path.write_text(text, encoding="utf-8")
        try:
            return subprocess.run(
                [*words, str(path)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None


@dataclass(frozen=True)
class Validation:
    """A pass changes the meaning of a kernel, as `--validate-each` says, or a finding is new.

    Attributes:
        pipeline: the passes.
        matches: what the message must match; by default the same pass and the same kind of change.
    """

    pipeline: Sequence[str | Pass]
    matches: str = ""
    _first: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> bool:
        """Run the passes, and compare what is found with the first time."""
        message = _failure(text, self.pipeline, validate=True)
        found = re.match(r"(pass '[^']+' changed the meaning) of '[^']+': (.*)", message)
        if found is None:
            return False
        if self.matches:
            return re.search(self.matches, message) is not None
        kind = f"{found[1]} {re.sub(r'[0-9.-]+', 'N', found[2])[:40]}"
        if not self._first:
            self._first.append(kind)
        return kind == self._first[0]


@dataclass(frozen=True)
class Failure:
    """The passes report an error whose message matches.

    Attributes:
        pipeline: the passes.
        matches: a regular expression.
    """

    pipeline: Sequence[str | Pass]
    matches: str

    def __call__(self, text: str) -> bool:
        """Run the passes."""
        message = _failure(text, self.pipeline, validate=False)
        return bool(message) and re.search(self.matches, message) is not None


def _failure(text: str, pipeline: Sequence[str | Pass], *, validate: bool) -> str:
    """The message of what a pipeline reports; empty of a program that it takes, or none takes."""
    watchers = (Validator(shrinks=False).around,) if validate else ()
    try:
        module = parse(Source("-", text), new_context())
        run_pipeline(module, pipeline, instrumentation=Instrumentation(watchers=watchers))
    except ProgramError as error:
        return error.diagnostics[0].message
    except TilecError as error:
        return str(error)
    return ""


def tile_opt(*words: str) -> tuple[str, ...]:
    """The command `tile-opt` of this Python."""
    return (sys.executable, "-m", "tilec.tools.tile_opt", *words)
