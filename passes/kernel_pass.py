"""A pass that works on one kernel after the other, and what such a pass is given."""

from __future__ import annotations

from collections.abc import Iterator
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
        yield from walk(self.function)

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
        report = Report()
        for kernel in kernels(module):
            with kernel.at(kernel.function):
                self.run(kernel)
            report.errors += kernel.errors
        report.raise_errors()


def kernels(module: ir.Module) -> Iterator[Kernel]:
    """The functions of a program's `gpu.module`s, kernels and what they call."""
    for gpu_module in gpu_modules(module):
        for function in functions(gpu_module):
            yield Kernel(function, gpu_module)
