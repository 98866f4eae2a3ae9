"""What may be watched while a pipeline runs: the IR before and after passes, and their times."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

if TYPE_CHECKING:
    from tilec.ir.mlir import ir

    from .steps import Title


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


Watcher: TypeAlias = "Callable[[Title, ir.Module | ir.Operation], AbstractContextManager[None]]"
"""Is entered before a pass and left after it."""


@dataclass
class Instrumentation:
    """Prints the IR around chosen passes and times every stage.

    Attributes:
        before: passes before which the IR is printed.
        after: passes after which it is.
        after_change: print after a pass only if it changed the IR.
        after_failure: print after a pass that fails.
        by_op: where passes are nested, look at each op that they work on instead of the module.
        module_scope: print the whole module even so, and name the op.
        show: the text of a module or an op.
        folder: print into files there, as upstream names them, in place of `out`.
        out: where the IR goes; standard error if None.
        times: seconds by stage, in order.
        watchers: what else is done around each pass, given its title and what it works on.
    """

    before: Selection = Selection()
    after: Selection = Selection()
    after_change: bool = False
    after_failure: bool = False
    by_op: bool = False
    module_scope: bool = False
    show: Callable[[ir.Module | ir.Operation], str] = str
    folder: Path | None = None
    out: TextIO | None = None
    times: list[tuple[str, float]] = field(default_factory=list)
    watchers: Sequence[Watcher] = ()
    _dumps: dict[tuple[str, ...], int] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Times what runs inside as the stage `name`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.times.append((name, time.perf_counter() - start))

    @contextmanager
    def around(self, title: Title, root: ir.Module | ir.Operation) -> Iterator[None]:
        """Prints `root` before and after the pass that runs inside, and times it."""
        if title.name in self.before:
            self._dump("Before", title, root)
        old = str(root) if self.after_change else None
        try:
            with ExitStack() as stack:
                for watcher in self.watchers:
                    stack.enter_context(watcher(title, root))
                with self.stage(title.name):
                    yield
        except Exception:
            if self.after_failure or title.name in self.after:
                self._dump("After", title, root, failed=True)
            raise
        if title.name in self.after and (old is None or old != str(root)):
            self._dump("After", title, root)

    def _dump(
        self, when: str, title: Title, root: ir.Module | ir.Operation, *, failed: bool = False
    ) -> None:
        op = root.operation
        where = ""
        if self.module_scope:
            symbol = _symbol(op)
            where = f" ('{op.name}' operation{f': @{symbol}' if symbol else ''})"
        what = f"{title.kind()}{' Failed' if failed else ''}: {title.text()}{where}"
        text = self.show(_top(op) if self.module_scope else root).rstrip()
        dump = f"// -----// IR Dump {when} {what} //----- //\n{text}\n\n\n"
        if self.folder is not None:
            path = self._file(self.folder, title.name, op)
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                path.write_text(dump, encoding="utf-8")
            except OSError as error:  # which names no file where there is no space for it
                raise type(error)(error.errno, error.strerror, str(path)) from None
            return
        out = self.out or sys.stderr
        out.write(dump)
        out.flush()

    def _file(self, folder: Path, name: str, op: ir.Operation) -> Path:
        """The file of a dump: a folder an op, the numbers of their dumps, the pass."""
        path = tuple(reversed([_folder(one) for one in _enclosing(op)]))
        self._dumps[path] = self._dumps.get(path, -1) + 1
        numbers = (self._dumps.setdefault(path[: i + 1], 0) for i in range(len(path)))
        return folder.joinpath(*path, f"{'_'.join(map(str, numbers))}_{name}.mlir")


def _enclosing(op: ir.Operation) -> Iterator[ir.Operation]:
    """An op and those around it, from the inside."""
    one: ir.Operation | None = op
    while one is not None:
        yield one
        around = one.parent if one.attached else None
        one = around.operation if around else None


def _top(op: ir.Operation) -> ir.Operation:
    *_, top = _enclosing(op)
    return top


def _symbol(op: ir.Operation) -> str:
    """The name of a symbol without its quotes; empty of what is none."""
    name = op.attributes.get("sym_name")
    return "" if name is None else str(name).strip('"')


def _folder(op: ir.Operation) -> str:
    symbol = _symbol(op) or "no-symbol-name"
    return f"{op.name}_{symbol}".replace("/", "_").replace("\\", "_").replace(".", "_")


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
