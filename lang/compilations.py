"""The compilations of a kernel: one for each specialisation and each state that it reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tilec.collection import uncollected
from tilec.diagnostics import Place
from tilec.environment import cache_wanted
from tilec.isa import LaunchError, TilecError

from .errors import KernelError
from .explain import explained
from .settings import Settings
from .snapshot import Snapshot, likeness, take
from .source import Source
from .specialization import ConstantValue, Specialization
from .versions import versions

if TYPE_CHECKING:
    from tilec import Compiled
    from tilec.sim import Report

    from .build import Program

_MOST = 1024
"""Compilations of a kernel that are held; beyond, the oldest goes."""
_MOST_SNAPSHOTS = 32


class CompiledKernel(NamedTuple):
    """A kernel compiled for one specialisation.

    Attributes:
        compiled: the compilation.
        specialization: what it is for.
        written: the arrays that the kernel changes.
        state: what was read when it was compiled, a value a line.
    """

    compiled: Compiled
    specialization: Specialization
    written: Sequence[str]
    state: tuple[str, ...]

    def launch(
        self, grid: int | Sequence[int], values: Mapping[str, Any], device: str | None
    ) -> Report | None:
        """Run it with these arguments; what the simulator counted, if it ran there.

        Raises:
            LaunchError: for what does not fit.
        """
        from tilec.runtime.cuda.views import is_shared  # noqa: PLC0415 (for launches only)

        for name in self.written:
            value = values[name]
            if isinstance(value, np.ndarray) and not value.flags.writeable:
                raise LaunchError(f"argument '{name}' is read-only, and the kernel changes it")
        passed = [
            values[name]
            for name, known in self.specialization.arguments
            if not isinstance(known, ConstantValue)
        ]
        where = device or ("cuda" if any(map(is_shared, passed)) else "sim")
        return self.compiled.launch(*passed, grid=grid, device=where)


class Compilations:
    """The compilations of a kernel in this process."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: dict[object, CompiledKernel] = {}
        self._snapshots: dict[object, tuple[Mapping[str, object], Snapshot]] = {}

    def get(self, specialization: Specialization, settings: Settings) -> CompiledKernel:
        """The kernel compiled: in this process before, found on disk, or now.

        Raises:
            KernelError: for what is wrong in the kernel, at its place.
            TilecError: for what the target or a later stage refuses.
        """
        snapshot = self._snapshot(specialization)
        if snapshot.reason is None:
            found = self._found.get((specialization, settings._replace(device=None), snapshot))
            if found is not None:
                return found
        with _placed(self._source), uncollected():
            return self._compile(specialization, settings._replace(device=None), snapshot)

    def explain(self, specialization: Specialization) -> str:
        """What the kernel is compiled for, and how that differs from before."""
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

    def _compile(
        self, specialization: Specialization, settings: Settings, snapshot: Snapshot
    ) -> CompiledKernel:
        """The kernel from the disk or from its source; held and kept where that is right."""

        def start() -> Compiled:
            if self._snapshot(specialization) != snapshot:
                raise TilecError(
                    f"what '{self._source.tree.name}' reads has changed since it was compiled: "
                    "compile it again to see its stages"
                )
            return _lowered(_built(self._source, specialization, settings), settings)

        from tilec.compiled import Options  # noqa: PLC0415 (as the following: not for launches)
        from tilec.remembered import find_compilation, keep_compilation  # noqa: PLC0415

        key = self._disk_key(specialization, settings, snapshot)
        options = Options(settings.opt_level, lineinfo=settings.lineinfo, cache=key is not None)
        found = find_compilation(key, start, options, located=snapshot.to_files)
        if found is not None:
            kernel = CompiledKernel(found, specialization, found.extra, snapshot.lines)
        else:
            program = _built(self._source, specialization, settings)
            if self._snapshot(specialization) != snapshot:
                return self._by_program(program, specialization, settings, snapshot)
            compiled = _lowered(program, settings)
            kernel = CompiledKernel(compiled, specialization, program.written, snapshot.lines)
            keep_compilation(key, compiled, extra=program.written, kept=snapshot.to_functions)
        _put(self._found, (specialization, settings, snapshot), kernel, _MOST)
        return kernel

    def _by_program(
        self,
        program: Program,
        specialization: Specialization,
        settings: Settings,
        snapshot: Snapshot,
    ) -> CompiledKernel:
        """A kernel of whose state less is known than what came of it: the program itself.

        It reads what cannot be recorded, or changes what it reads. So it is built anew each time,
        and compiled where that gave another program.
        """
        key = (specialization, settings, program.digest())
        if key not in self._found:
            compiled = _lowered(program, settings)
            kernel = CompiledKernel(compiled, specialization, program.written, snapshot.lines)
            _put(self._found, key, kernel, _MOST)
        return self._found[key]

    def _disk_key(
        self, specialization: Specialization, settings: Settings, snapshot: Snapshot
    ) -> str | None:
        """What the compilation is found by on disk; None if it is neither found nor kept there."""
        if snapshot.reason is not None or settings.pipeline is not None:
            return None
        if not cache_wanted(settings.cache, default=True):
            return None
        from tilec import cache  # noqa: PLC0415

        where = snapshot.spans if settings.lineinfo else ()
        parts = (settings.warps, settings.target, settings.opt_level, settings.lineinfo, where)
        return cache.key("kernel", snapshot.digest, specialization.key(), parts, versions())


def _built(source: Source, specialization: Specialization, settings: Settings) -> Program:
    """The kernel's program."""
    from tilec import codegen  # noqa: PLC0415

    codegen.start()  # while MLIR is being imported
    from .build import build  # noqa: PLC0415 (imports MLIR)

    return build(source, specialization, warps=settings.warps)


def _lowered(program: Program, settings: Settings) -> Compiled:
    """The compilation of a program, with no stage made."""
    from tilec.driver import compile as compile_program  # noqa: PLC0415

    return compile_program(
        program.module,
        target=settings.target,
        opt_level=settings.opt_level,
        lineinfo=settings.lineinfo,
        pipeline=settings.pipeline,
    )


def _put(held: dict[Any, Any], key: object, value: object, most: int) -> None:
    """Hold a value, and no more than so many."""
    held.pop(key, None)
    while len(held) >= most:
        del held[next(iter(held))]
    held[key] = value


@contextmanager
def _placed(source: Source) -> Iterator[None]:
    """Show what passes find at the user's line."""
    try:
        yield
    except KernelError:
        raise
    except TilecError as error:
        found = getattr(error, "diagnostics", ())
        if not found:
            raise
        from tilec.diagnostics import place  # noqa: PLC0415 (it imports MLIR)

        said = [
            (Place(*(place(one.location) or source.place)), one.severity, one.message)
            for diagnostic in found
            for one in (diagnostic, *diagnostic.notes)
        ]
        (at, _, reason), *others = said
        raise KernelError(at, reason, others=others) from None
