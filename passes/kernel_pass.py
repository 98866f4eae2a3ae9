"""A pass that works on one kernel after the other, and what such a pass is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import overload

from tilec.ir.mlir import gpu, ir
from tilec.isa import Target
from tilec.isa.lazy import cached_property

from .base import Pass, walk
from .functions import (
    block_size,
    functions,
    gpu_modules,
    is_automatic,
    is_kernel,
    target_of,
    threads,
    warps,
)
from .report import Report
from .search import OpClass, named


class Kernel(Report):
    """A `gpu.func` of the program, as a pass on kernels gets it.

    Attributes:
        function: the op.
        module: the `gpu.module` that it stands in.
    """

    def __init__(self, function: gpu.GPUFuncOp, module: gpu.GPUModuleOp) -> None:
        super().__init__()
        self.function = function
        self.module = module

    @cached_property
    def target(self) -> Target | None:
        """What the module is for; None where that does not say.

        Raises:
            TilecError: for a chip that is no target.
        """
        return target_of(self.module)

    @property
    def is_entry(self) -> bool:
        """Whether the host launches it; else kernels call it."""
        return is_kernel(self.function)

    @property
    def is_automatic(self) -> bool:
        """Whether staging, pipelines and epilogues are for the passes to choose."""
        return is_automatic(self.function)

    @property
    def block_size(self) -> tuple[int, int, int] | None:
        """Threads of a CTA along x, y and z; None where the kernel does not say."""
        return block_size(self.function)

    @cached_property
    def threads(self) -> int:
        """Threads of a CTA.

        Raises:
            TilecError: if the kernel does not say, or they are no whole warps.
        """
        return threads(self.function)

    @cached_property
    def warps(self) -> int:
        """Warps of a CTA that share tiles.

        Raises:
            TilecError: if the kernel does not say, or they are no power of two.
        """
        return warps(self.function)

    @property
    def arguments(self) -> list[ir.BlockArgument]:
        """What the kernel is passed."""
        return list(self.function.regions[0].blocks[0].arguments)

    def walk(self) -> Iterator[ir.OpView]:
        """Every op inside, a parent before what it holds."""
        return walk(self.function)

    @overload
    def named(self, *ops: type[OpClass]) -> list[OpClass]: ...
    @overload
    def named(self, *ops: str | type[ir.OpView]) -> list[ir.OpView]: ...
    def named(self, *ops: str | type[ir.OpView]) -> list[OpClass] | list[ir.OpView]:
        """The ops of these classes, or of these names, in program order."""
        return [op.opview for op in named(self.function, ops)]


class KernelPass(Pass):
    """A pass on kernels: `run` gets each of a program, and the errors of all are reported.

    A subclass that has options is a frozen dataclass, its fields the options of a pipeline string:

        class CountLoads(KernelPass):
            name: ClassVar[str] = "count-loads"

            def run(self, kernel: Kernel) -> None:
                for load in kernel.named(LoadOp):
                    kernel.remark(load, f"is for {kernel.target}")
    """

    def run(self, kernel: Kernel) -> None:
        """Transform or check one kernel in place.

        What is wrong goes to `kernel.error`; a TilecError that leaves this is one of the whole
        kernel, a PassError stands for the errors that it has.
        """
        raise NotImplementedError

    def apply(self, module: ir.Module) -> None:
        """Run on every kernel of `module`.

        Raises:
            PassError: with the errors of all kernels.
        """
        self._run_all(kernels(module))

    @classmethod
    def anchors(cls) -> tuple[str, ...]:
        """What holds kernels, and a kernel; none if the pass looks at the module first."""
        if cls.apply is not KernelPass.apply:
            return ()
        return gpu.GPUModuleOp.OPERATION_NAME, gpu.GPUFuncOp.OPERATION_NAME

    def apply_inside(self, op: ir.Operation) -> None:
        """Run on every kernel of a `gpu.module`, or on the one kernel that `op` is.

        Raises:
            PassError: with the errors of all kernels.
        """
        self._run_all(_kernels_of(op.opview))

    def _run_all(self, found: Iterable[Kernel]) -> None:
        report = Report()
        for kernel in found:
            with kernel.at(kernel.function):
                self.run(kernel)
            report.errors += kernel.errors
        report.raise_errors()


def _kernels_of(op: ir.OpView) -> Iterator[Kernel]:
    """The kernels of a `gpu.module`, or the one that `op` is, if it has a body."""
    if isinstance(op, gpu.GPUModuleOp):
        yield from (Kernel(function, op) for function in functions(op))
    elif isinstance(op, gpu.GPUFuncOp):
        around = op.operation.parent
        module = around.opview if around else None
        if isinstance(module, gpu.GPUModuleOp):
            yield Kernel(op, module)


def kernels(module: ir.Module) -> Iterator[Kernel]:
    """The functions of a program's `gpu.module`s, kernels and what they call."""
    for gpu_module in gpu_modules(module):
        for function in functions(gpu_module):
            yield Kernel(function, gpu_module)
