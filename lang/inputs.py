"""Kernels as the driver takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tilec.frontend.inputs import IN_PLACE, Built, Relocation
from tilec.isa import TilecError

from .settings import Pins
from .snapshot import Snapshot
from .source import FunctionSource
from .specialization import Specialization
from .versions import versions

if TYPE_CHECKING:
    from tilec.ir.mlir import ir

    from .build import BuiltKernel


class KernelInput(NamedTuple):
    """A kernel whose state is recorded.

    Attributes:
        source: its Python.
        specialization: what it is compiled for.
        warps: of a CTA.
        pins: what it asks of passes.
        snapshot: what it reads.
        now: gives what it reads at the moment.
    """

    source: FunctionSource
    specialization: Specialization
    warps: int
    pins: Pins
    snapshot: Snapshot
    now: Callable[[], Snapshot]

    @property
    def text(self) -> None:
        """None: it was built."""

    @property
    def relocation(self) -> Relocation:
        """Places are kept as lines of functions."""
        return Relocation(self.snapshot.to_functions, self.snapshot.to_files)

    def key(self, *, lineinfo: bool) -> tuple[object, ...] | None:
        """What the kernel reads and is compiled for; None if building it changed what it reads."""
        if self.now() != self.snapshot:
            return None
        places = self.snapshot.spans if lineinfo else ()
        read, arguments = self.snapshot.digest, self.specialization.key()
        return ("kernel", read, arguments, self.warps, self.pins, versions(), places)

    def build(self, context: Callable[[], ir.Context]) -> Built:
        """Its program.

        Raises:
            KernelError: for what is wrong in the kernel, at its place.
            TilecError: if it reads other values than when it was compiled.
        """
        from .build import build  # noqa: PLC0415 (imports MLIR)

        if self.now() != self.snapshot:
            raise TilecError(
                f"what '{self.source.tree.name}' reads has changed since it was compiled: "
                "compile it again to see its stages"
            )
        given = context()
        program = build(
            self.source, self.specialization, warps=self.warps, pins=self.pins, context=given
        )
        return program.built()


class ProgramInput(NamedTuple):
    """A kernel's program, built already."""

    program: BuiltKernel

    @property
    def text(self) -> None:
        """None: it was built."""

    @property
    def relocation(self) -> Relocation:
        """Places are part of it."""
        return IN_PLACE

    def key(self, *, lineinfo: bool) -> None:
        """None: whoever has the program need not look for it."""

    def build(self, context: Callable[[], ir.Context]) -> Built:  # noqa: ARG002
        """The program."""
        return self.program.built()
