"""How to compile."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tilec.isa import TilecError

from .stages import Stage

if TYPE_CHECKING:
    from tilec.passes.instrumentation import Instrumentation

    from .pipeline_choice import PipelineLike

_LEVELS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Options:
    """How to compile.

    Attributes:
        opt_level: LLVM's optimisation level, 0 to 3.
        verify_each: verify the program after each pass.
        instrumentation: what to print and time.
        lineinfo: say in PTX and binary which line of the source each instruction comes from.
        cache: look for PTX and binary in the compile cache, and keep them there. None leaves that
            to the environment; `compile_input` says when it cannot be.
        pipeline: the passes to run; those for the target if None.
        target: such as `sm_90a`; the program's own if None.
        emit: the last stage that is made at once.
        reproducer: a file for the program and its passes, should one of them fail or crash.

    Raises:
        TilecError: for an unknown optimisation level.
    """

    opt_level: int = 3
    verify_each: bool = False
    instrumentation: Instrumentation | None = None
    lineinfo: bool = False
    cache: bool | None = False
    pipeline: PipelineLike | None = None
    target: str | None = None
    emit: Stage = Stage.PTX
    reproducer: str | None = None

    def __post_init__(self) -> None:
        if self.opt_level not in _LEVELS:
            legal = ", ".join(map(str, _LEVELS))
            raise TilecError(f"unknown optimisation level {self.opt_level}; legal: {legal}")

    @property
    def plain(self) -> bool:
        """Whether nobody watches the passes, or brings others: what comes out may be cached."""
        return not (self.verify_each or self.instrumentation or self.reproducer) and (
            self.pipeline is None
        )

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Times what runs inside, if times are asked for."""
        return self.instrumentation.stage(stage) if self.instrumentation else nullcontext()
