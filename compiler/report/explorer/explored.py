"""What the explorer asks of a compilation; `Compiled` is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tilec.backend.cubin import Resources
from tilec.ir.mlir import ir
from tilec.isa import Target
from tilec.launch.abi import KernelEntry
from tilec.options import Options
from tilec.passes.base import Diagnostic
from tilec.report.diagnostics import Source


class Explored(Protocol):
    """A compilation, its stages and what is known of its kernels."""

    target: Target
    options: Options
    text: Source | None

    @property
    def module(self) -> ir.Module:
        """The program that it starts from."""
        ...

    @property
    def remarks(self) -> Sequence[Diagnostic]:
        """What its passes remark on."""
        ...

    @property
    def llvm(self) -> str:
        """LLVM IR."""
        ...

    @property
    def ptx(self) -> str:
        """PTX."""
        ...

    @property
    def sass(self) -> str:
        """The binary, disassembled."""
        ...

    @property
    def kernels(self) -> Sequence[KernelEntry]:
        """How each kernel is launched."""
        ...

    @property
    def resources(self) -> Mapping[str, Resources]:
        """What ptxas gives each kernel."""
        ...

    @property
    def assembler(self) -> str:
        """Which ptxas that was."""
        ...

    def again(self, options: Options, module: ir.Module | None = None) -> Explored:
        """The program, or `module` in its place, to be compiled anew with other options."""
        ...
