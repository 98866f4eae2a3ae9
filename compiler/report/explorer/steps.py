"""The stations of a compilation: the program after every pass, and the stages that follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from tilec.backend.external_tools import AssemblerError
from tilec.frontend.inputs import TextInput
from tilec.frontend.loading import load
from tilec.ir.mlir import ir
from tilec.ir.visits import visit
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.steps import Title
from tilec.report.diagnostics import SOURCE, Source, places
from tilec.report.printing import to_text

from . import lines
from .explored import Explored
from .lines import Line


@dataclass(frozen=True, slots=True)
class Step:
    """One station.

    Attributes:
        name: a pass as pipelines write it, or a stage.
        lines: the program.
        missing: why there is no program, or empty.
        by_pass: whether it is the output of a pass, comparable with the step before it.
    """

    name: str
    lines: list[Line]
    missing: str = ""
    by_pass: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """A compilation that was watched.

    Attributes:
        compiled: its stages, with line information.
        source: the source's name and text.
        file: what locations call it.
        steps: in order; the first is the source itself.
    """

    compiled: Explored
    source: Source
    file: str
    steps: list[Step]


@dataclass
class _Recorder(Instrumentation):
    """Keeps the program after each pass, besides what `inner` does.

    Attributes:
        file: what locations call the source.
        steps: what was kept.
        inner: what else watches.
    """

    file: str = SOURCE
    steps: list[Step] = field(default_factory=list)
    inner: Instrumentation | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What `inner` does."""
        with self.inner.stage(name) if self.inner else nullcontext():
            yield

    @contextmanager
    def around(self, title: Title, root: ir.Module | ir.Operation) -> Iterator[None]:
        """Keeps the module after the pass that runs inside."""
        with self.inner.around(title, root) if self.inner else nullcontext():
            yield
        self.keep(title.name, root)

    def keep(self, name: str, module: ir.Module | ir.Operation, *, by_pass: bool = True) -> None:
        """Keep `module` as the step `name`."""
        read = lines.mlir(to_text(module, locations=True), self.file)
        self.steps.append(Step(name, read, by_pass=by_pass))


def record(compiled: Explored) -> Recorded:
    """Compile a program once more, step by step.

    Its source is the text that it was parsed from. If there is none, it is the file that most
    operations are from, as of programs that Python builds; else the program as it is printed.

    Args:
        compiled: the compilation, in whose context names are unique.

    Raises:
        TilecError: as compiling does, but for what the assembler and disassembler refuse.
    """
    module, source = compiled.module, compiled.text
    if source:
        file = SOURCE
    elif source := _file(module):
        file = source.name
    else:
        source, file = Source("the program as built", to_text(module)), SOURCE
        module = load(TextInput(source), str(compiled.target)).built.module
    options = compiled.options
    recorder = _Recorder(file=file, inner=options.instrumentation)
    recorder.keep("parse", module, by_pass=False)
    # Without a name for the source: locations keep that which the recorder looks for.
    watched = compiled.again(replace(options, lineinfo=True, instrumentation=recorder), module)
    ptx = lines.ptx(watched.ptx, file)
    steps = [
        *recorder.steps,
        Step("LLVM IR", lines.llvm_ir(watched.llvm, file)),
        Step("PTX", ptx),
        _sass(watched, file),
    ]
    steps = [_original(source, steps, whole=file == SOURCE), *steps]
    return Recorded(watched, source, file, steps)


def _sass(compiled: Explored, file: str) -> Step:
    try:
        return Step("SASS", lines.sass(compiled.sass, file))
    except AssemblerError as error:
        return Step("SASS", [], str(error))


def _file(module: ir.Module) -> Source | None:
    """The readable file that most operations of `module` name, if there is one."""
    named: Counter[str] = Counter()

    def look(op: ir.Operation) -> ir.WalkResult:
        named.update({place.file for place in places(op.location)} - {SOURCE})
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    for name, _ in named.most_common():
        try:
            return Source(name, Path(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
    return None


def _original(source: Source, steps: list[Step], *, whole: bool) -> Step:
    """The source itself; if it is `whole` a program, lines between two operations are the first's.

    An operation written over several lines is located at the first of them.
    """
    located = {number for step in steps for line in step.lines for number in line.sources}
    found, last = [], 0
    for number, text in enumerate(source.text.splitlines(), 1):
        if number in located:
            last = number
        words = text.strip()
        if number in located or (last and whole and words and not words.startswith(("//", "}"))):
            found.append(Line(text, (last,)))
        else:
            found.append(Line(text))
            last = last if words else 0
    return Step("source", found)
