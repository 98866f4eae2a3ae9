"""The compilations of a kernel: one for each specialisation and each state that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.cache.environment import cache_wanted
from tilec.garbage_collection import without_gc
from tilec.isa import TilecError
from tilec.report.diagnostics import Place

from .errors import KernelError
from .settings import Settings
from .snapshot import Snapshot, likeness, take
from .source import FunctionSource
from .specialization import Specialization

if TYPE_CHECKING:
    from tilec.compiled import Compiled
    from tilec.frontend.inputs import Input

    from .build import BuiltKernel


_MOST = 1024
"""Compilations of a kernel that are held; beyond, the oldest goes."""
_MOST_SNAPSHOTS = 32


class CompiledKernel(NamedTuple):
    """A kernel compiled for one specialisation.

    Attributes:
        compiled: the compilation.
        specialization: what it is for.
        state: what was read when it was compiled, a value a line.
    """

    compiled: Compiled
    specialization: Specialization
    state: tuple[str, ...]

    @property
    def written(self) -> Sequence[str]:
        """The arrays that the kernel changes."""
        written: Sequence[str] = self.compiled.facts["written"]
        return written


class Compilations:
    """The compilations of a kernel in this process."""

    def __init__(self, source: FunctionSource) -> None:
        self._source = source
        self._found: dict[object, CompiledKernel] = {}
        self._snapshots: dict[object, tuple[Mapping[str, object], Snapshot]] = {}
        self._steady = True
        """Whether building the kernel left what it reads as it was."""

    def get(self, specialization: Specialization, settings: Settings) -> CompiledKernel:
        """The kernel compiled: in this process before, found on disk, or now.

        Raises:
            KernelError: for what is wrong in the kernel, at its place.
            TilecError: for what the target or a later stage refuses.
        """
        snapshot = self._snapshot(specialization)
        settings = settings.of_compilation()
        recorded = snapshot.reason is None and self._steady
        if recorded:
            found = self._found.get((specialization, settings, snapshot))
            if found is not None:
                return found
        with _placed(self._source), without_gc():
            compile_ = self._by_state if recorded else self._by_program
            return compile_(specialization, settings, snapshot)

    def recorded(self, specialization: Specialization) -> Snapshot | None:
        """What the kernel reads, if that is all that its program depends on."""
        snapshot = self._snapshot(specialization)
        return snapshot if snapshot.reason is None and self._steady else None

    def explain(self, specialization: Specialization) -> str:
        """What the kernel is compiled for, and how that differs from before."""
        from .explain import explained  # noqa: PLC0415 (for people who ask)

        made = [(one.specialization, one.state) for one in self._found.values()]
        name = self._source.tree.name
        return explained(name, specialization, self._snapshot(specialization), made)

    def _snapshot(self, specialization: Specialization) -> Snapshot:
        """What the kernel reads, as it is now."""
        objects = specialization.objects()
        key = tuple(map(likeness, objects.values()))
        _, known = self._snapshots.get(key, (None, None))
        if known is not None and known.holds():
            return known
        found = take(self._source, objects)
        # Objects are held, too, so that what tells them from others stays theirs.
        _put(self._snapshots, key, (objects, found), _MOST_SNAPSHOTS)
        return found

    def _by_state(
        self, specialization: Specialization, settings: Settings, snapshot: Snapshot
    ) -> CompiledKernel:
        """The kernel from the disk or from its source."""
        from .inputs import KernelInput  # noqa: PLC0415 (not for launches)

        def now() -> Snapshot:
            return self._snapshot(specialization)

        given = KernelInput(
            self._source, specialization, settings.warps, settings.pins, snapshot, now
        )
        compiled = _compile(given, settings, cache=cache_wanted(settings.cache, default=True))
        self._steady = now() == snapshot
        kernel = CompiledKernel(compiled, specialization, snapshot.lines)
        if self._steady:
            _put(self._found, (specialization, settings, snapshot), kernel, _MOST)
        return kernel

    def _by_program(
        self, specialization: Specialization, settings: Settings, snapshot: Snapshot
    ) -> CompiledKernel:
        """A kernel of which less is known than what comes of it: the program itself.

        It reads what cannot be recorded, or changed what it reads when it was built. So it is built
        anew, and compiled where that gives another program.
        """
        from .inputs import ProgramInput  # noqa: PLC0415 (not for launches)

        program = _built(self._source, specialization, settings)
        key = (specialization, settings, program.digest())
        self._steady = snapshot.reason is None and self._snapshot(specialization) == snapshot
        if key not in self._found:
            compiled = _compile(ProgramInput(program), settings, cache=False)
            kernel = CompiledKernel(compiled, specialization, snapshot.lines)
            _put(self._found, key, kernel, _MOST)
        return self._found[key]


def _built(
    source: FunctionSource, specialization: Specialization, settings: Settings
) -> BuiltKernel:
    """The kernel's program."""
    from tilec.backend import codegen  # noqa: PLC0415

    codegen.start()  # while MLIR is being imported
    from tilec.dialect_plugins import loaded  # noqa: PLC0415
    from tilec.frontend.contexts import lease  # noqa: PLC0415

    from .build import build  # noqa: PLC0415 (imports MLIR)

    leased = lease()
    try:
        program = build(
            source,
            specialization,
            warps=settings.warps,
            pins=settings.pins,
            context=leased.context,
        )
    except BaseException:
        leased.retire()
        raise
    # Other packages' dialects and passes may leave a context otherwise than they met it.
    reuse = settings.pipeline is None and not loaded(leased.context)
    leased.end_with(program.module, reuse=reuse)
    return program


def _compile(given: Input, settings: Settings, *, cache: bool) -> Compiled:
    from tilec.driver import compile_input  # noqa: PLC0415 (not for launches)
    from tilec.options import Options  # noqa: PLC0415

    options = Options(
        opt_level=settings.opt_level,
        lineinfo=settings.lineinfo,
        cache=cache,
        pipeline=settings.pipeline,
        target=settings.target,
    )
    return compile_input(given, options)


def _put(held: dict[Any, Any], key: object, value: object, most: int) -> None:
    """Hold a value, and no more than so many."""
    held.pop(key, None)
    while len(held) >= most:
        del held[next(iter(held))]
    held[key] = value


@contextmanager
def _placed(source: FunctionSource) -> Iterator[None]:
    """Show what passes find at the user's line."""
    try:
        yield
    except KernelError:
        raise
    except TilecError as error:
        found = getattr(error, "diagnostics", ())
        if not found:
            raise
        from tilec.report.diagnostics import place  # noqa: PLC0415 (it imports MLIR)

        said = [
            (Place(*(place(one.location) or source.place)), one.severity, one.message)
            for diagnostic in found
            for one in (diagnostic, *diagnostic.notes)
        ]
        (at, _, reason), *others = said
        raise KernelError(at, reason, others=others) from None
