"""The one road from a program to its stages: everything that compiles takes it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tilec.passes.base import ProgramError

from .cache.environment import cache_wanted
from .compiled import Compiled
from .frontend.inputs import Input, as_input
from .garbage_collection import without_gc
from .options import Options
from .stages import Stage

if TYPE_CHECKING:
    from tilec.ir.mlir import ir
    from tilec.passes.instrumentation import Instrumentation

    from .frontend.loading import Loaded
    from .pipeline_choice import PipelineLike


def compile(  # noqa: A001 (tilec.compile is the name users call)
    source: str | Path | ir.Module,
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
        source: MLIR text, the path of a file of it, or an `ir.Module`, which is left as it is. A
            string is a path if it is one line that ends in `.mlir` and has no braces.
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
    options = Options(
        opt_level=opt_level,
        verify_each=verify_each,
        instrumentation=instrumentation,
        lineinfo=lineinfo,
        cache=cache,
        pipeline=pipeline,
        target=target,
        emit=Stage(emit),
    )
    given = as_input(source, name)
    try:
        return compile_input(given, options)
    except ProgramError as error:
        from .report.diagnostics import render  # noqa: PLC0415 (for errors)

        # Who prints it sees where.
        error.args = (render(error.diagnostics, given.text).rstrip("\n"),)
        raise


def compile_input(given: Input, options: Options) -> Compiled:
    """Compile what any front end or command gives, up to the stage that the options name.

    The code generator is started while MLIR is imported. The compile cache is used where the
    options ask for it, unless the stage needs no PTX, others watch or bring the passes, or nobody
    can say all that decides what the input is. What passes remark and MLIR reports goes to who
    collects it, by `passes.base.remarks` and `report.diagnostics.reports`.

    Args:
        given: the program.
        options: how to compile it.

    Raises:
        ProgramError: for errors of the program.
        TilecError: as `compile` does.
        OSError: if a reproducer is asked for and cannot be written.
    """
    asked, known = options, _key(given, options)
    options = replace(options, cache=known is not None)

    def start() -> Compiled:
        return _started(given, options)

    with without_gc():
        if known is None:
            compiled = start()
        else:
            from .cache.compilations import through_cache  # noqa: PLC0415 (most do without)

            compiled = through_cache(
                known,
                start,
                options,
                given.text,
                relocation=given.relocation,
                unchanged=lambda: _key(given, asked) == known,
            )
        with _reproducible(compiled, options.reproducer):
            compiled.emit(options.emit)
    return compiled


def _reproducible(compiled: Compiled, path: str | None) -> AbstractContextManager[None]:
    """Leaves the program and all its passes in a file, if one is asked for and a pass fails."""
    if path is None:
        return nullcontext()
    from .report.printing import to_text  # noqa: PLC0415 (most do without)
    from .report.reproducer import Reproducer, reproducible  # noqa: PLC0415

    def made() -> Reproducer:
        passes, verify_each = str(compiled.pipeline), compiled.options.verify_each
        return Reproducer(to_text(compiled.module), passes, verify_each)

    return reproducible(path, made)


def _key(given: Input, options: Options) -> str | None:
    """What the compilation is found by in the cache; None if it is to be made."""
    asked = cache_wanted(options.cache)
    identity = given.key(lineinfo=options.lineinfo)
    if not (asked and options.plain and options.emit.generates_code and identity):
        return None
    from .cache.entries import key  # noqa: PLC0415 (most do without)

    kind, *parts = identity
    return key(str(kind), *parts, options.target, options.opt_level, options.lineinfo)


def _started(given: Input, options: Options) -> Compiled:
    """The compilation, with no stage made."""
    (module, facts), target = _loaded(given, options)

    def again() -> ir.Module:
        return _loaded(given, options).built.module

    return Compiled(module, again, target, options, given.text, facts)


def _loaded(given: Input, options: Options) -> Loaded:
    """The program that the passes start from, in a context that it has for itself."""
    if options.emit.generates_code:
        from .backend import codegen  # noqa: PLC0415

        codegen.start()  # while MLIR is being imported
    from .dialect_plugins import loaded  # noqa: PLC0415
    from .frontend.contexts import Lease, lease  # noqa: PLC0415
    from .frontend.loading import load  # noqa: PLC0415

    leases: list[Lease] = []

    def context() -> ir.Context:
        leases.append(lease())
        return leases[-1].context

    try:
        with options.timed("parse"):
            made = load(given, options.target, context)
    except BaseException:
        for one in leases:
            one.retire()
        raise
    for one in leases:
        # Other packages' dialects and passes may leave a context otherwise than they met it.
        reuse = options.pipeline is None and not loaded(one.context)
        one.end_with(made.built.module, reuse=reuse)
    return made
