"""The whole road: a tile program in, every stage down to SASS out."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from tilec.isa import Target, TilecError
from tilec.isa import target as find_target
from tilec.passes.base import Diagnostic, ProgramError, remarks
from tilec.passes.check_target import set_target
from tilec.passes.functions import gpu_modules, is_kernel, target_of
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline, verify

from . import codegen
from .abi import Abi, Kernel, kernels
from .cubin import Assembled, Resources, assemble, disassemble
from .debug_info import add_scopes, name_file
from .diagnostics import Source
from .llvm import to_llvm_ir
from .pipelines import pipeline
from .printing import to_text
from .ptx import to_ptx, written_version
from .source import new_context, parse

DEFAULT_TARGET = "sm_80"
"""The target of a program that names none: the first with `cp.async`, and `mma` on bf16 and f64."""


class Stage(StrEnum):
    """What a compilation can give out, in its order."""

    TILE = "tile"
    """The program on fragments."""
    NVVM = "nvvm"
    """The program in the LLVM and NVVM dialects."""
    LLVM = "llvm"
    """LLVM IR, before LLVM's optimisations."""
    PTX = "ptx"
    CUBIN = "cubin"
    SASS = "sass"


@dataclass(frozen=True)
class Options:
    """How to compile.

    Attributes:
        opt_level: LLVM's optimisation level, 0 to 3.
        verify_each: verify the program after each pass.
        instrumentation: what to print and time.
        lineinfo: say in PTX and binary which line of the source each instruction comes from.
    """

    opt_level: int = 3
    verify_each: bool = False
    instrumentation: Instrumentation | None = None
    lineinfo: bool = False

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Times what runs inside, if times are asked for."""
        return self.instrumentation.stage(stage) if self.instrumentation else nullcontext()


class Compiled:
    """A program and its stages, each made when first asked for.

    Every attribute below `target` may raise what making the stage raises: `ProgramError` for
    the program's errors, else another `TilecError`.
    """

    def __init__(
        self, module: Any, target: Target, options: Options, source: Source | None = None
    ) -> None:
        self._source = module
        self._text = source
        self._options = options
        self._remarks: list[Diagnostic] = []
        self.target = target

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What the passes of the stages made so far remark on."""
        return tuple(self._remarks)

    @cached_property
    def _fragments(self) -> Any:
        # Python verifiers take their time: what goes on to the next stage is verified there.
        return self._lowered(self._source, pipeline(self.target).tile, verify_last=False)

    @cached_property
    def _registers(self) -> Any:
        return self._lowered(self._fragments, pipeline(self.target).nvvm, verify_last=True)

    def _lowered(self, module: Any, passes: tuple[str, ...], *, verify_last: bool) -> Any:
        lowered = module.operation.clone()
        with remarks() as found:
            try:
                run_pipeline(
                    lowered,
                    passes,
                    verify_each=self._options.verify_each,
                    verify_last=verify_last,
                    instrumentation=self._options.instrumentation,
                )
            finally:
                self._remarks += found
        return lowered

    @cached_property
    def tile(self) -> str:
        """MLIR on fragments."""
        verify(self._fragments)
        return to_text(self._fragments)

    @cached_property
    def nvvm(self) -> str:
        """MLIR in the LLVM and NVVM dialects."""
        return to_text(self._registers)

    @cached_property
    def llvm(self) -> str:
        """LLVM IR before LLVM's optimisations."""
        module = self._registers
        lineinfo = self._options.lineinfo
        with self._options.timed("translate to LLVM IR"), module.context:
            if lineinfo:
                module = module.operation.clone()
                add_scopes(module)
            (gpu_module,) = gpu_modules(module)
            text = to_llvm_ir(gpu_module, debug=lineinfo)
        return name_file(text, self._text.name) if lineinfo and self._text else text

    @cached_property
    def ptx(self) -> str:
        """PTX."""
        ir_text = self.llvm
        with self._options.timed("LLVM to PTX"):
            return to_ptx(ir_text, self.target, level=self._options.opt_level)

    @cached_property
    def _assembled(self) -> Assembled:
        ptx = self.ptx
        with self._options.timed("ptxas"):
            return assemble(ptx, self.target, lineinfo=self._options.lineinfo)

    @property
    def cubin(self) -> bytes:
        """The binary that ptxas makes."""
        return self._assembled.cubin

    @cached_property
    def sass(self) -> str:
        """The binary disassembled."""
        return disassemble(self.cubin, lineinfo=self._options.lineinfo)

    @property
    def resources(self) -> dict[str, Resources]:
        """Registers, spills and shared memory by kernel, as ptxas reports them."""
        return self._assembled.resources

    @property
    def assembler(self) -> str:
        """The ptxas that made the binary, such as `ptxas 13.0`."""
        return f"ptxas {'.'.join(map(str, self._assembled.assembler.version))}"

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """How each kernel is launched."""
        with self._registers.context:
            (gpu_module,) = gpu_modules(self._registers)
            return tuple(kernels(gpu_module))

    @cached_property
    def abi(self) -> Abi:
        """The JSON beside the PTX, by `str`."""
        return Abi(self.target, written_version(self.ptx), self.kernels)

    def explore(self) -> str:
        """A page of HTML: the program after every pass and stage, tied to its source lines."""
        from .explorer import explore  # noqa: PLC0415 (it compiles, by this module)

        return explore(self._source, self.target, self._options, self._text)

    def _repr_html_(self) -> str:
        """What a notebook shows: the kernels, and the PTX to unfold."""
        from .explorer import summary  # noqa: PLC0415

        return summary(self)

    def emit(self, stage: Stage) -> str | bytes:
        """The text, or binary, of `stage`."""
        found: str | bytes = getattr(self, stage.value)
        return found


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
) -> Compiled:
    """Compile a tile program.

    Args:
        source: MLIR text, the path of a file of it, or an `ir.Module`, which is left as it is.
        target: such as `sm_90a`; without one the program's `#nvvm.target`, else `DEFAULT_TARGET`.
        emit: the last stage that is made at once: `tile`, `nvvm`, `llvm`, `ptx`, `cubin`, `sass`.
        opt_level: LLVM's optimisation level, 0 to 3.
        name: what messages call a text.
        verify_each: verify the program after each pass.
        instrumentation: what to print and time.
        lineinfo: say in PTX and binary which line of the source each instruction comes from.

    Returns:
        The stages; those after `emit` are made when asked for.

    Raises:
        ProgramError: for errors of the program, each with its place.
        TilecError: for an unknown target or stage, or what a later stage refuses.
    """
    stage = _stage(emit)
    if opt_level not in range(4):
        raise TilecError(f"unknown optimisation level {opt_level}; legal: 0, 1, 2, 3")
    if stage not in (Stage.TILE, Stage.NVVM, Stage.LLVM):
        codegen.start()
    if isinstance(source, Path):
        name, source = str(source), source.read_text(encoding="utf-8")
    options = Options(opt_level, verify_each, instrumentation, lineinfo)
    with _uncollected():
        with options.timed("parse"):
            module, aim = load(source, target=target, name=name)
        text = Source(name, source) if isinstance(source, str) else None
        compiled = Compiled(module, aim, options, text)
        compiled.emit(stage)
    return compiled


@contextmanager
def _uncollected() -> Iterator[None]:
    """Put off garbage collection: one amid a compile's many objects walks all of the process's."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def load(
    source: str | Any,
    *,
    target: str | None = None,
    name: str = "<string>",
    context: Any = None,
) -> tuple[Any, Target]:
    """The module that a compilation starts from, and its target.

    Args:
        source: MLIR text or an `ir.Module`, which is copied.
        target: as `compile` takes it.
        name: what messages call a text.
        context: the `ir.Context` that a text is parsed in; a new one if None.

    Raises:
        ProgramError: if it does not verify, or is no program: one `gpu.module` with a kernel.
        TilecError: for an unknown target.
    """
    override = find_target(target) if target else None
    if isinstance(source, str):
        module = parse(Source(name, source), context or new_context())
    else:
        module = source.operation.clone()
        verify(module)
    return module, _aim(module, override)


def _stage(name: str) -> Stage:
    try:
        return Stage(name)
    except ValueError:
        legal = ", ".join(stage.value for stage in Stage)
        raise TilecError(f"unknown stage '{name}'; legal: {legal}") from None


def _aim(module: Any, override: Target | None) -> Target:
    """Give the only `gpu.module` of `module` its target.

    Raises:
        ProgramError: unless there is exactly one, with a kernel and a target that exists.
    """
    found = list(gpu_modules(module))
    if not found:
        raise _error(module.operation.location, "the program has no gpu.module")
    if len(found) > 1:
        raise _error(found[1].location, "a second gpu.module; a program has one, PTX being one")
    gpu_module = found[0]
    marked = [op for op in gpu_module.regions[0].blocks[0].operations if is_kernel(op)]
    if not marked:
        raise _error(
            gpu_module.location, "the gpu.module has no kernel: a gpu.func marked 'kernel'"
        )
    for kernel in marked:
        if not kernel.regions[0].blocks:
            raise _error(kernel.location, "the kernel has no body")
    try:
        target = override or target_of(gpu_module) or find_target(DEFAULT_TARGET)
    except TilecError as error:
        raise _error(gpu_module.location, str(error)) from None
    with module.context:
        set_target(gpu_module, target)
    return target


def _error(location: Any, message: str) -> ProgramError:
    return ProgramError([Diagnostic(location, message)])
