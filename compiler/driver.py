"""The whole road: a tile program in, every stage down to SASS out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilec.isa import TilecError
from tilec.passes.base import ProgramError

from .cache.environment import cache_wanted
from .compiled import Compiled, Options, Stage
from .garbage_collection import without_gc
from .report.diagnostics import Source, render

if TYPE_CHECKING:
    from tilec.passes.instrumentation import Instrumentation

    from .pipeline_choice import PipelineLike

_BEFORE_PTX = (Stage.TILE, Stage.NVVM, Stage.LLVM)


def compile(  # noqa: A001 (tilec.compile is the name users call)
    source: str | Path | Any,
    *,
    target: str | None = None,
    emit: str = "ptx",
    opt_level: int = 3,
    name: str = "<string>",
    verify_each: bool = False,
    instrumentation: Instrumentation | None = None,
    lineinfo: bool = False,
    cache: bool | None = None,
    pipeline: PipelineLike | None = None,
) -> Compiled:
    """Compile a tile program.

    Args:
        source: MLIR text, the path of a file of it, or an `ir.Module`, which is left as it is.
        target: such as `sm_90a`; without one the program's `#nvvm.target`, else `sm_80`.
        emit: the last stage that is made at once: `tile`, `nvvm`, `llvm`, `ptx`, `cubin`, `sass`.
        opt_level: LLVM's optimisation level, 0 to 3.
        name: what messages call a text.
        verify_each: verify the program after each pass.
        instrumentation: what to print and time.
        lineinfo: say in PTX and binary which line of the source each instruction comes from.
        cache: use the compile cache, if `source` is a text or path and nobody watches the passes:
            off unless `TILEC_CACHE=1` says otherwise, since it knows of no pass that this
            process has replaced. Never with a `pipeline`.
        pipeline: the passes to run instead of those for the target: a `Pipeline`, perhaps that of
            another compilation with one pass replaced; the name that another package gave one;
            or passes, as text or one by one.

    Returns:
        The stages; those after `emit` are made when asked for.

    Raises:
        ProgramError: for errors of the program, each with its place.
        TilecError: for an unknown target or stage, or what a later stage refuses.
    """
    stage = _stage(emit)
    if opt_level not in range(4):
        raise TilecError(f"unknown optimisation level {opt_level}; legal: 0, 1, 2, 3")
    if isinstance(source, Path):
        name, source = str(source), source.read_text(encoding="utf-8")
    text = Source(name, source) if isinstance(source, str) else None
    plain = not verify_each and instrumentation is None and pipeline is None
    cached = text is not None and stage not in _BEFORE_PTX and plain and cache_wanted(cache)
    options = Options(opt_level, verify_each, instrumentation, lineinfo, cached, pipeline)

    def start() -> Compiled:
        return _started(source, target, options, text, stage)

    try:
        with without_gc():
            compiled = _remembered(text, target, options, start) if text and cached else start()
            compiled.emit(stage)
    except ProgramError as error:
        error.args = (render(error.diagnostics, text).rstrip("\n"),)  # who prints it sees where
        raise
    return compiled


def _remembered(
    text: Source, target: str | None, options: Options, start: Callable[[], Compiled]
) -> Compiled:
    from .cache.compilations import through_cache  # noqa: PLC0415
    from .cache.entries import key  # noqa: PLC0415

    name = text.name if options.lineinfo else ""
    known = key("mlir", text.text, target, options.opt_level, options.lineinfo, name)
    return through_cache(known, start, options, text)


def _started(
    source: str | Any, target: str | None, options: Options, text: Source | None, stage: Stage
) -> Compiled:
    """The compilation, with no stage made."""
    if stage not in _BEFORE_PTX:
        from .backend import codegen  # noqa: PLC0415

        codegen.start()  # while MLIR is being imported
    from .dialect_plugins import loaded  # noqa: PLC0415
    from .frontend.contexts import lease  # noqa: PLC0415 (MLIR is imported when first needed)
    from .lowering import load  # noqa: PLC0415

    with options.timed("parse"):
        if text is None:
            module, aim = load(source, target=target)
            return Compiled(module, aim, options)
        leased = lease()
        module, aim = load(source, target=target, name=text.name, context=leased.context)
        # Other packages' dialects and passes may leave a context otherwise than they met it.
        if options.pipeline is None and not loaded(leased.context):
            leased.end_with(module)
        return Compiled(module, aim, options, text)


def _stage(name: str) -> Stage:
    try:
        return Stage(name)
    except ValueError:
        legal = ", ".join(stage.value for stage in Stage)
        raise TilecError(f"unknown stage '{name}'; legal: {legal}") from None
