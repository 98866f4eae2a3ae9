"""A pass that works on one kernel after the other, and what such a pass is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from tilec.ir.mlir import ir
from tilec.isa import Target, TilecError

from .base import Diagnostic, Pass, PassError, remark, walk
from .functions import block_size, functions, gpu_modules, is_automatic, target_of, threads, warps
from .search import named


class Kernel:
    """A `gpu.func` of the program, as a pass on kernels gets it.

    Attributes:
        function: the op.
        target: what its module is for; None where that does not say.
        module: the `gpu.module` that it stands in.
    """

    def __init__(self, function: ir.OpView, module: ir.OpView, target: Target | None) -> None:
        self.function = function
        self.module = module
        self.target = target
        self.errors: list[Diagnostic] = []

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

    def named(self, *ops: str | type[ir.OpView]) -> list[ir.OpView]:
        """The ops of these classes, or of these names, in program order."""
        return [op.opview for op in named(self.function, ops)]

    def error(
        self,
        op: ir.OpView | ir.Operation,
        message: str,
        *,
        argument: int | None = None,
        notes: tuple[Diagnostic, ...] = (),
    ) -> None:
        """Report what is wrong with an op, and what would be legal; go on looking.

        Args:
            op: the op.
            message: goes on from the op's name.
            argument: number of the argument, of the kernel itself, that it is about.
            notes: what belongs to it, each at a place of its own.
        """
        which = "" if argument is None else f"argument {argument}: "
        text = f"'{op.operation.name}' op {which}{message}"
        self.errors.append(Diagnostic(op.location, text, notes=notes))

    def remark(self, op: ir.OpView | ir.Operation, message: str) -> None:
        """Explain a decision about an op, to users who ask with `--remarks`.

        Args:
            op: the op.
            message: what was decided, why, and what else would have cost; goes on from the op's
                name.
        """
        remark(op.location, f"'{op.operation.name}' op {message}")

    @contextmanager
    def at(self, op: ir.OpView | ir.Operation) -> Iterator[None]:
        """Makes what is emitted inside have the op's place, and what is wrong inside its error."""
        try:
            with op.location:
                yield
        except PassError as error:
            self.errors += error.diagnostics
        except TilecError as error:
            self.error(op, str(error))


@dataclass(frozen=True)
class KernelPass(Pass):
    """A pass on kernels: `run` gets each of a program, and the errors of all are reported.

    A subclass is a frozen dataclass, its fields the options of a pipeline string:

        @dataclass(frozen=True)
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
        errors: list[Diagnostic] = []
        for kernel in kernels(module):
            with kernel.at(kernel.function):
                self.run(kernel)
            errors += kernel.errors
        if errors:
            raise PassError(errors)


def kernels(module: ir.Module) -> Iterator[Kernel]:
    """The functions of a program's `gpu.module`s, kernels and what they call."""
    for gpu_module in gpu_modules(module):
        target = target_of(gpu_module)
        for function in functions(gpu_module):
            yield Kernel(function, gpu_module, target)
