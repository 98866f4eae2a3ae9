"""A compilation: its options, its stages, each made when first asked for.

Nothing here imports MLIR before a stage needs it, so that a compilation whose PTX is known does
without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilec.isa import Target
from tilec.isa.errors import NoMapError
from tilec.isa.lazy import cached_property

from .launch.abi import Abi, KernelEntry
from .options import Options
from .report.diagnostics import Source
from .stages import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tilec.ir.mlir import ir
    from tilec.passes.base import Diagnostic, Pass
    from tilec.runtime.cuda.bound import Launch
    from tilec.sim import Report, Timeline

    from .backend.cubin import Assembled, Resources
    from .launch.c_launcher import Launcher
    from .pipelines import Pipeline

__all__ = ["Compiled", "Options", "Stage"]

_FOR_MAPS = ("tile-make-persistent", "tile-specialize-warps", "tile-copy-rows")
"""The passes that let boxes be copied where the program says nothing of them."""


class Compiled:
    """A program and its stages, each made when first asked for.

    Every attribute below `target` may raise what making the stage raises: `ProgramError` for
    the program's errors, else another `TilecError`.
    """

    def __init__(
        self,
        module: ir.Module | None,
        make: Callable[[], ir.Module],
        target: Target,
        options: Options,
        text: Source | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._module = module
        self._make = make
        self._remarks: dict[str, list[Diagnostic]] = {}
        self._facts = facts or {}
        self.target = target
        self.options = options
        self.text = text

    @property
    def module(self) -> ir.Module:
        """The program that it starts from."""
        if self._module is None:
            self._module = self._make()
        return self._module

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the front end that built the program wants to know again of it."""
        return self._facts

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """What the passes of the stages made so far remark on."""
        return tuple(chain(*self._remarks.values()))

    def release(self) -> None:
        """Let another program have the MLIR context; so does the end of a `with`.

        What was made stays. Of stages that were not, those before PTX are made from the source,
        anew.
        """
        self._module = None
        for name in ("_fragments", "_registers"):
            vars(self).pop(name, None)

    def __enter__(self) -> Compiled:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def again(self, options: Options, module: ir.Module | None = None) -> Compiled:
        """The program, or `module` in its place, to be compiled anew with other options."""
        return Compiled(module or self.module, self._make, self.target, options)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The passes, those first that lower other packages' dialects, unless they were given."""
        from .dialect_plugins import loaded  # noqa: PLC0415
        from .pipeline_choice import EditedPipeline, choose  # noqa: PLC0415

        given = self.options.pipeline
        chosen = choose(given, self.target)
        if (given.base if isinstance(given, EditedPipeline) else given) is not None:
            return chosen
        lowering = (one for plugin in loaded(self.module.context) for one in plugin.lowering)
        return chosen._replace(tile=(*lowering, *chosen.tile))

    @cached_property
    def _fragments(self) -> ir.Module:
        # Python verifiers take their time: what goes on to the next stage is verified there.
        return self._lowered("tile", self.pipeline.tile, self.module, verify_last=False)

    @cached_property
    def _registers(self) -> ir.Module:
        return self._lowered("nvvm", self.pipeline.nvvm, self._fragments, verify_last=True)

    def _lowered(
        self, part: str, passes: Sequence[str | Pass], module: ir.Module, *, verify_last: bool
    ) -> ir.Module:
        """A copy of `module` after the passes of a part of the pipeline."""
        from .lowering import lower  # noqa: PLC0415 (MLIR is imported when first needed)

        found = self._remarks[part] = []
        return lower(module, passes, self.options, found, verify_last=verify_last)

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
        with self.options.timed("translate to LLVM IR"):
            return llvm_ir(module, self.text, lineinfo=self.options.lineinfo)

    @cached_property
    def ptx(self) -> str:
        """PTX."""
        from .backend.ptx import to_ptx  # noqa: PLC0415

        ir_text = self.llvm
        with self.options.timed("LLVM to PTX"):
            return to_ptx(ir_text, self.target, level=self.options.opt_level)

    def with_lines(self) -> str:
        """The same PTX with `.loc`: the lines of the program that instructions come from."""
        if self.options.lineinfo:
            return self.ptx
        told = replace(self.options, lineinfo=True, cache=False, instrumentation=None)
        return self.again(told).ptx

    @cached_property
    def _assembled(self) -> Assembled:
        ptx, options = self.ptx, self.options
        if options.cache:
            from .cache.binaries import assemble  # noqa: PLC0415
        else:
            from .backend.cubin import assemble  # noqa: PLC0415
        with options.timed("ptxas"):
            made = assemble(ptx, self.target, lineinfo=options.lineinfo)
        if made.notes:
            from .report.assembler_notes import assembler_remarks  # noqa: PLC0415 (they are rare)

            found = assembler_remarks(made.notes, self.module, ptx, self.with_lines)
            self._remarks["ptxas"] = found
        return made

    @property
    def cubin(self) -> bytes:
        """The binary that ptxas makes."""
        return self._assembled.cubin

    @cached_property
    def sass(self) -> str:
        """The binary disassembled."""
        from .backend.cubin import disassemble  # noqa: PLC0415

        return disassemble(self.cubin, lineinfo=self.options.lineinfo)

    @property
    def resources(self) -> dict[str, Resources]:
        """Registers, spills and shared memory by kernel, as ptxas reports them."""
        return self._assembled.resources

    @property
    def assembler(self) -> str:
        """The ptxas that made the binary, such as `ptxas 13.0`."""
        return f"ptxas {'.'.join(map(str, self._assembled.assembler.version))}"

    @cached_property
    def kernels(self) -> tuple[KernelEntry, ...]:
        """How each kernel is launched."""
        from .lowering import launches  # noqa: PLC0415

        return launches(self._registers)

    @cached_property
    def abi(self) -> Abi:
        """The JSON beside the PTX, by `str`."""
        from .backend.ptx import written_version  # noqa: PLC0415

        return Abi(self.target, written_version(self.ptx), self.kernels)

    def c_launcher(self, name: str, stage: Stage = Stage.PTX) -> Launcher:
        """C that launches the kernels: the texts of `NAME.h` and `NAME.c`.

        Args:
            name: what the files, types and functions begin with.
            stage: what the source holds: PTX, or a cubin for the target alone. Where passes chose
                copies of boxes, it also holds the kernels without, for arrays that no tensor map
                describes, as `launch` would compile them.

        Raises:
            TilecError: for a name that is none in C, and arguments that C cannot pass.
        """
        from .launch.c_launcher import Image, c_launcher  # noqa: PLC0415

        def image(made: Compiled) -> Image:
            return Image(made.abi, made.cubin if stage is Stage.CUBIN else made.ptx)

        plain = self._without_maps if any(kernel.maps for kernel in self.kernels) else None
        return c_launcher(*image(self), name, None if plain is None else image(plain))

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
        sms: int | None = None,
        timeline: Sequence[int] | None = None,
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
            cluster: CTAs of a cluster; by default what the kernel says.
            stream: on a GPU: a stream, on which the launch does not wait for the kernel's end
                unless there are arrays to copy back.
            sms: SMs on which a kernel runs whose CTAs take one tile of the grid after the other; by
                default all that the GPU has, on the simulator 132.
            timeline: the place in the grid of a CTA, as (0, 0, 0), whose timeline the simulator
                records: `Report.timeline`.

        Returns:
            What the simulator counted; None from a GPU.

        Raises:
            LaunchError: if kernel, extents or arguments do not fit. Where passes chose copies of
                boxes, and no tensor map describes an array, the kernel is compiled without.
            SimulationError: if the simulator finds something wrong with the kernel.
            CudaError: if something goes wrong on the GPU.
        """
        from .launch.run import launch  # noqa: PLC0415 (with the simulator and the runtime)

        how = {"kernel": kernel, "device": device, "cluster": cluster, "stream": stream, "sms": sms}
        how["timeline"] = timeline
        try:
            return launch(self, args, grid=grid, block=block, dynamic_smem=dynamic_smem, **how)
        except NoMapError:
            plain = self._without_maps
            if plain is None:
                raise
            return launch(plain, args, grid=grid, block=None, dynamic_smem=None, **how)

    def bind(
        self, *args: Any, grid: int | Sequence[int], stream: Any = None, sms: int | None = None
    ) -> Launch:
        """A launch on a GPU with everything settled, to be made many times without waiting.

        Args:
            args: as `launch` takes them; arrays are on the GPU.
            grid: as `launch` takes it.
            stream: the stream that it goes to.
            sms: as `launch` takes it.

        Raises:
            LaunchError: if extents or arguments do not fit.
            CudaError: if something goes wrong on the GPU.
        """
        from .launch.run import bind  # noqa: PLC0415 (with the runtime)

        try:
            return bind(self, args, grid=grid, stream=stream, sms=sms)
        except NoMapError:
            plain = self._without_maps
            if plain is None:
                raise
            return bind(plain, args, grid=grid, stream=stream, sms=sms)

    @cached_property
    def _without_maps(self) -> Compiled | None:
        """The program without the tensor maps that passes chose; None if they chose none.

        For arrays that no map describes: empty ones, and those whose rows are one.
        """
        pipeline = self.pipeline
        for name in _FOR_MAPS:
            pipeline = pipeline.replaced(name) if name in pipeline.names else pipeline
        if pipeline.names == self.pipeline.names:
            return None
        found = self.again(replace(self.options, pipeline=pipeline))
        return None if any(kernel.maps for kernel in found.kernels) else found

    def __repr__(self) -> str:
        made = [stage.value for stage in Stage if stage.value in vars(self)]
        return f"<program for {self.target}; made so far: {', '.join(made) or 'nothing'}>"

    def show(self, timeline: Timeline | None = None) -> Path:
        """Open `explore`'s page in the browser, where there is one; the file that it is in."""
        import tempfile  # noqa: PLC0415 (only here)
        import webbrowser  # noqa: PLC0415

        file = Path(tempfile.mkdtemp(prefix="tilec-"), "program.html")
        file.write_text(self.explore(timeline), encoding="utf-8")
        webbrowser.open(file.as_uri())
        return file

    def explore(self, timeline: Timeline | None = None) -> str:
        """A page of HTML: the program after every pass and stage, tied to its source lines.

        Args:
            timeline: of a launch on the simulator, `Report.timeline`, to be drawn on it.
        """
        from .report.explorer import explore  # noqa: PLC0415

        return explore(self, timeline)

    def _repr_html_(self) -> str:
        """What a notebook shows: the kernels, and the PTX to unfold."""
        from .report.explorer import summary  # noqa: PLC0415

        return summary(self)

    def emit(self, stage: Stage) -> str | bytes:
        """The text, or binary, of `stage`, and of those before it what it is made of."""
        made: str | bytes = getattr(self, stage.value)
        return made
