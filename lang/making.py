"""Kernels compiled, once for each specialisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.cache.environment import cache_wanted
from tilec.garbage_collection import without_gc
from tilec.isa import TilecError
from tilec.report.diagnostics import Place

from .dependencies import UnknownStateError, described
from .errors import KernelError
from .settings import Settings
from .source import Source
from .specialization import Specialization

if TYPE_CHECKING:
    from tilec import Compiled


class Made(NamedTuple):
    """A kernel compiled for one specialisation.

    Attributes:
        compiled: the compilation.
        specialization: what it is for.
        written: gives the arrays that the kernel changes, where that is known.
    """

    compiled: Compiled
    specialization: Specialization
    written: Callable[[], Sequence[str]]


def make(
    source: Source,
    specialization: Specialization,
    settings: Settings,
    known: dict[Any, Made],
) -> Made:
    """A kernel compiled: found among those `known` in this process, or on disk, or compiled now.

    Raises:
        KernelError: for what is wrong in the kernel, at its place.
        TilecError: for what the target or a later stage refuses.
    """
    try:
        state: tuple[str, ...] | None = described(source.function)
    except UnknownStateError:
        state = None
    key = (specialization, settings._replace(device=None), state)
    if key not in known:
        with _placed(source), without_gc():
            known[key] = _made(source, specialization, settings, state)
    return known[key]


def _made(source: Source, specialization: Specialization, settings: Settings, state: Any) -> Made:
    written: list[str] = []

    def start() -> Compiled:
        from tilec.backend import codegen  # noqa: PLC0415

        codegen.start()  # while MLIR is being imported
        from tilec.driver import compile as compile_program  # noqa: PLC0415

        from .build import build  # noqa: PLC0415 (imports MLIR)

        program = build(source, specialization, warps=settings.warps)
        written[:] = program.written
        return compile_program(
            program.module,
            target=settings.target,
            opt_level=settings.opt_level,
            lineinfo=settings.lineinfo,
            pipeline=settings.pipeline,
        )

    plain = state is not None and settings.pipeline is None
    if not plain or not cache_wanted(settings.cache, default=True):
        return Made(start(), specialization, lambda: written)
    from tilec import cache  # noqa: PLC0415
    from tilec.cache.compilations import through_cache  # noqa: PLC0415
    from tilec.compiled import Options  # noqa: PLC0415

    where = str(source.place) if settings.lineinfo else ""
    parts = (state, specialization.lines(), settings.warps, settings.target, settings.opt_level)
    found = cache.key("kernel", *parts, settings.lineinfo, where)
    options = Options(settings.opt_level, lineinfo=settings.lineinfo, cache=True)
    compiled = through_cache(found, start, options)
    arrays = f"{found}-arrays" if found else None
    if written:
        name, aim = source.tree.name, compiled.target.name
        cache.keep(arrays, written, kind="arrays", name=name, target=aim)
    return Made(compiled, specialization, lambda: written or cache.find(arrays) or ())


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
        from tilec.report.diagnostics import place  # noqa: PLC0415 (it imports MLIR)

        said = [
            (Place(*(place(one.location) or source.place)), one.severity, one.message)
            for diagnostic in found
            for one in (diagnostic, *diagnostic.notes)
        ]
        (at, _, reason), *others = said
        raise KernelError(at, reason, others=others) from None
