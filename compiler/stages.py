"""The stages of a compilation, in their order."""

from __future__ import annotations

from enum import StrEnum

from tilec.isa import TilecError


class Stage(StrEnum):
    """What a compilation can give out, in its order.

    Raises:
        TilecError: by `Stage(name)` for a name that is none.
    """

    TILE = "tile"
    """The program on fragments."""
    NVVM = "nvvm"
    """The program in the LLVM and NVVM dialects."""
    LLVM = "llvm"
    """LLVM IR, before LLVM's optimisations."""
    PTX = "ptx"
    CUBIN = "cubin"
    SASS = "sass"

    @classmethod
    def _missing_(cls, value: object) -> Stage:
        raise TilecError(f"unknown stage '{value}'; legal: {', '.join(cls)}")

    @property
    def through(self) -> tuple[Stage, ...]:
        """The stages that lead to this one, and this one."""
        stages = tuple(Stage)
        return stages[: stages.index(self) + 1]

    @property
    def generates_code(self) -> bool:
        """Whether LLVM generates code for it."""
        return Stage.PTX in self.through
