"""What may be watched while a pipeline runs: the IR before and after passes, and their times."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from tilec.ir.mlir import ir


@dataclass(frozen=True, slots=True)
class Selection:
    """Which passes: all, or those named.

    Attributes:
        every: whether all are meant.
        names: names as pipelines write them.
    """

    every: bool = False
    names: frozenset[str] = frozenset()

    def __contains__(self, name: str) -> bool:
        return self.every or name in self.names


@dataclass
class Instrumentation:
    """Prints the IR around chosen passes and times every stage.

    Attributes:
        before: passes before which the IR is printed.
        after: passes after which it is.
        after_change: print after a pass only if it changed the IR.
        after_failure: print after a pass that fails.
        show: the text of a module.
        out: where the IR goes; standard error if None.
        times: seconds by stage, in order.
    """

    before: Selection = Selection()
    after: Selection = Selection()
    after_change: bool = False
    after_failure: bool = False
    show: Callable[[ir.Module], str] = str
    out: TextIO | None = None
    times: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times what runs inside as the stage `name`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.times.append((name, time.perf_counter() - start))

    @contextmanager
    def around(self, title: str, name: str, module: ir.Module) -> Iterator[None]:
        """Prints `module` before and after the pass that runs inside, and times it."""
        if name in self.before:
            self._dump(f"Before {title} ({name})", self.show(module))
        old = str(module) if self.after_change else None
        try:
            with self.stage(name):
                yield
        except Exception:
            if self.after_failure or name in self.after:
                self._dump(f"After {title} Failed ({name})", self.show(module))
            raise
        if name in self.after and (old is None or old != str(module)):
            self._dump(f"After {title} ({name})", self.show(module))

    def _dump(self, what: str, text: str) -> None:
        out = self.out or sys.stderr
        out.write(f"// -----// IR Dump {what} //----- //\n{text.rstrip()}\n\n\n")
        out.flush()


def time_report(times: Sequence[tuple[str, float]]) -> str:
    """The table of `times`, as MLIR lays it out."""
    rule = "===" + "-" * 73 + "==="
    total = sum(seconds for _, seconds in times)
    rows = [*times, ("Total", total)]
    share = (100 / total) if total else 0.0
    lines = [
        rule,
        "... Execution time report ...".center(len(rule)).rstrip(),
        rule,
        f"  Total Execution Time: {total:.4f} seconds",
        "",
        "  ----Wall Time----  ----Name----",
        *(f"  {s:9.4f} ({s * share:5.1f}%)  {name}" for name, s in rows),
    ]
    return "\n".join(lines) + "\n"
