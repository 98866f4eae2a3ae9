"""A compilation: its options, its stages, each made when first asked for.

Nothing here imports MLIR before a stage needs it, so that a compilation whose PTX is known does
without.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tilec.isa import Target

from .launch.abi import Abi, Kernel
from .report.diagnostics import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilec.passes.base import Diagnostic, Pass
    from tilec.passes.instrumentation import Instrumentation
    from tilec.sim import Report

    from .backend.cubin import Assembled, Resources
    from .pipeline_choice import PipelineLike
    from .pipelines import Pipeline


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
        cache: look for the binary in the compile cache, and keep it there.
        pipeline: the passes to run; those for the target if None.
    """

    opt_level: int = 3
    verify_each: bool = False
    instrumentation: Instrumentation | None = None
    lineinfo: bool = False
    cache: bool = False
    pipeline: PipelineLike | None = None

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
        self._given = module
        self._text = source
        self._options = options
        self._remarks: list[Diagnostic] = []
        self.target = target

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What the passes of the stages made so far remark on."""
        return tuple(self._remarks)

    @cached_property
    def _source(self) -> Any:
        return self._given

    @cached_property
    def pipeline(self) -> Pipeline:
        """The passes, those first that lower other packages' dialects, unless they were given."""
        from .dialect_plugins import loaded  # noqa: PLC0415
        from .pipeline_choice import choose  # noqa: PLC0415

        chosen = choose(self._options.pipeline, self.target)
        if self._options.pipeline is not None:
            return chosen
        lowering = (one for plugin in loaded(self._source.context) for one in plugin.lowering)
        return chosen._replace(tile=(*lowering, *chosen.tile))

    @cached_property
    def _fragments(self) -> Any:
        # Python verifiers take their time: what goes on to the next stage is verified there.
        return self._lowered(self._source, self.pipeline.tile, verify_last=False)

    @cached_property
    def _registers(self) -> Any:
        return self._lowered(self._fragments, self.pipeline.nvvm, verify_last=True)

    def _lowered(self, module: Any, passes: tuple[str | Pass, ...], *, verify_last: bool) -> Any:
        from .lowering import lower  # noqa: PLC0415 (MLIR is imported when first needed)

        return lower(module, passes, self._options, self._remarks, verify_last=verify_last)

    @cached_property
    def tile(self) -> str:
        """MLIR on fragments."""
        from .lowering import verified_text  # noqa: PLC0415

        return verified_text(self._fragments)

    @cached_property
    def nvvm(self) -> str:
        """MLIR in the LLVM and NVVM dialects."""
        from .report.printing import to_text  # noqa: PLC0415

        return to_text(self._registers)

    @cached_property
    def llvm(self) -> str:
        """LLVM IR before LLVM's optimisations."""
        from .lowering import llvm_ir  # noqa: PLC0415

        module = self._registers
        with self._options.timed("translate to LLVM IR"):
            return llvm_ir(module, self._text, lineinfo=self._options.lineinfo)

    @cached_property
    def ptx(self) -> str:
        """PTX."""
        from .backend.ptx import to_ptx  # noqa: PLC0415

        ir_text = self.llvm
        with self._options.timed("LLVM to PTX"):
            return to_ptx(ir_text, self.target, level=self._options.opt_level)

    @cached_property
    def _assembled(self) -> Assembled:
        ptx, options = self.ptx, self._options
        if options.cache:
            from .cache.compilations import assembled as assemble  # noqa: PLC0415
        else:
            from .backend.cubin import assemble  # noqa: PLC0415
        with options.timed("ptxas"):
            return assemble(ptx, self.target, lineinfo=options.lineinfo)

    @property
    def cubin(self) -> bytes:
        """The binary that ptxas makes."""
        return self._assembled.cubin

    @cached_property
    def sass(self) -> str:
        """The binary disassembled."""
        from .backend.cubin import disassemble  # noqa: PLC0415

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
        from .lowering import launches  # noqa: PLC0415

        return launches(self._registers)

    @cached_property
    def abi(self) -> Abi:
        """The JSON beside the PTX, by `str`."""
        from .backend.ptx import written_version  # noqa: PLC0415

        return Abi(self.target, written_version(self.ptx), self.kernels)

    def launch(
        self,
        *args: Any,
        grid: int | Sequence[int] | None = None,
        block: int | Sequence[int] | None = None,
        kernel: str | None = None,
        device: str | None = None,
        dynamic_smem: int | None = None,
        cluster: int | Sequence[int] | None = None,
        stream: Any = None,
    ) -> Report | None:
        """Run a kernel on a GPU or the simulator.

        Args:
            args: one for each argument of the kernel: of a memref an array, whose extents are
                passed with it where the kernel takes them. numpy arrays are changed in place; a
                GPU also takes arrays on it, by DLPack or `__cuda_array_interface__`.
            grid: CTAs along x, y and z; by default what the kernel says, if it was made of a
                function that names no CTAs.
            block: threads of a CTA along x, y and z; by default what the kernel fixes.
            kernel: its name; by default the only one.
            device: `cuda`, `sim`, or None: the GPU where there is one that runs the target.
            dynamic_smem: dynamic shared memory in bytes; by default what the kernel says.
            cluster: CTAs of a cluster, on a GPU.
            stream: on a GPU: a stream, on which the launch does not wait for the kernel's end
                unless there are arrays to copy back.

        Returns:
            What the simulator counted; None from a GPU.

        Raises:
            LaunchError: if kernel, extents or arguments do not fit.
            SimulationError: if the simulator finds something wrong with the kernel.
            CudaError: if something goes wrong on the GPU.
        """
        from .launch.run import launch  # noqa: PLC0415 (with the simulator and the runtime)

        return launch(
            self,
            args,
            grid=grid,
            block=block,
            kernel=kernel,
            device=device,
            dynamic_smem=dynamic_smem,
            cluster=cluster,
            stream=stream,
        )

    def explore(self) -> str:
        """A page of HTML: the program after every pass and stage, tied to its source lines."""
        from .report.explorer import explore  # noqa: PLC0415 (it compiles, by this module)

        return explore(self._source, self.target, self._options, self._text)

    def _repr_html_(self) -> str:
        """What a notebook shows: the kernels, and the PTX to unfold."""
        from .report.explorer import summary  # noqa: PLC0415

        return summary(self)

    def emit(self, stage: Stage) -> str | bytes:
        """The text, or binary, of `stage`."""
        found: str | bytes = getattr(self, stage.value)
        return found
