"""`tile-pipeline`: copies to shared memory begin rounds before they are needed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import STAGES
from tilec.dialects.tile.ops import AsyncCopyOp
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir, scf
from tilec.ir.types import memref_of
from tilec.isa import LANES, TilecError
from tilec.isa.wording import counted

from .analysis import costs
from .analysis.async_copies import is_asynchronous
from .analysis.effects import Writers
from .analysis.places import outermost_loop
from .analysis.shared_space import SharedSpace, aligned
from .emit import constant_of
from .functions import take_positive
from .kernel_pass import Kernel, KernelPass
from .staging.multistage import Multistage
from .staging.register_stages import RegisterStages, fits_registers
from .staging.staged_copies import CopyGroup, StagedCopy, copy_groups


@dataclass(frozen=True)
class PipelineLoops(KernelPass):
    """Give the buffers of a loop several stages, and start each copy that many iterations ahead.

    In and out: level 2; kernels that are `tile.automatic`, and loops with `tile.stages`. In a
    loop's body, the barrier, `tile.async_copy`s, commit, wait for all and barrier that
    tile-stage-shared writes become a prologue before the loop and, in each iteration, one wait,
    one barrier, the copies for a later iteration if there is one, and one commit. A loop's
    attribute `tile.stages = N : i64` gives the number of stages; 1 does not change the loop.
    Copies that are not `cp.async`, which sm_75 does not have, become loads to registers at the
    beginning of the previous iteration and stores at its end, if they need few registers.

    Attributes:
        stages: of loops that do not say, as far as shared memory has room.
    """

    name: ClassVar[str] = "tile-pipeline"

    stages: int = costs.STAGES

    def run(self, kernel: Kernel) -> None:
        """Rewrite the loops of a kernel."""
        for loop in reversed(kernel.named(scf.ForOp)):  # inner ones first
            with kernel.at(loop):
                self._loop(loop, kernel)

    def _loop(self, loop: scf.ForOp, kernel: Kernel) -> None:
        pinned = take_positive(loop, STAGES)
        if pinned is None and not kernel.is_automatic:
            return
        groups = copy_groups(loop, Writers(kernel.function))
        movable = [copy for copy in _all(groups) if not _stays(copy, kernel)]
        ahead = [copy for copy in movable if is_asynchronous(copy.copy, kernel.target)]
        space = SharedSpace(kernel.function, kernel.target)
        if ahead:
            stages = self._stages(loop, ahead, space, pinned, kernel)
            if stages > 1:
                Multistage(loop, ahead, stages).run(_frames(groups, ahead))
        elif movable and pinned != 1 and not any(map(_goes_on, movable)):
            warps = kernel.threads // LANES
            more = _taken(movable)
            if fits_registers(movable, warps) and more <= space.left(_outermost(loop)):
                _explain_held(loop, movable, kernel)
                RegisterStages(loop, movable, warps).run(_frames(groups, movable))

    def _stages(
        self,
        loop: scf.ForOp,
        copies: list[StagedCopy],
        space: SharedSpace,
        pinned: int | None,
        kernel: Kernel,
    ) -> int:
        """How many stages a loop gets.

        Raises:
            TilecError: if it says more than there is room for.
        """
        size = sum(_bytes(copy) for copy in copies)
        left = space.left(_outermost(loop)) + _taken(copies)
        room = _stages_in(left, copies)
        stages = min(self.stages, room, _rounds(loop)) if pinned is None else pinned
        if stages > room:
            raise TilecError(
                f"{STAGES} = {stages} takes {_taken(copies, stages)} bytes of shared memory, and "
                f"there are {left} of {space.limit}; {room} of {size} each would fit"
            )
        why = f"as {STAGES} says" if pinned is not None else f"{room} would fit"
        kernel.remark(
            loop,
            f"has {counted(stages, 'stage')} of {counted(size, 'byte')} of shared memory: {why}; "
            "copies begin "
            f"{counted(stages - 1, 'round')} ahead",
        )
        return stages


def _all(groups: list[CopyGroup]) -> list[StagedCopy]:
    return [copy for group in groups for copy in group.copies]


def _stays(copy: StagedCopy, kernel: Kernel) -> bool:
    """Whether a copy cannot begin earlier; says why."""
    if copy.obstacle:
        kernel.missed(copy.copy, f"is not pipelined: {copy.obstacle}")
    return bool(copy.obstacle)


def _goes_on(copy: StagedCopy) -> bool:
    """Whether a tile lies in several matrices of its buffer, which no store goes on in."""
    view = copy.copy.opview
    return isinstance(view, AsyncCopyOp) and view.panels > 1


def _rounds(loop: scf.ForOp) -> int:
    """How many rounds a loop has at most."""
    bounds = (loop.lowerBound, loop.upperBound, loop.step)
    lower, upper, step = map(constant_of, bounds)
    if lower is None or upper is None or not step:
        return sys.maxsize
    return max(1, -((lower - upper) // step))


def _outermost(loop: scf.ForOp) -> Op:
    return outermost_loop(loop) or loop


def _bytes(copy: StagedCopy) -> int:
    """Bytes of a copy's buffer, of one stage."""
    return shared_buffer(memref_of(copy.alloc.results[0])).bytes


def _taken(copies: list[StagedCopy], stages: int = 1) -> int:
    """Bytes of shared memory that the buffers take, of which each begins at an aligned place."""
    return sum(aligned(stages * _bytes(copy)) for copy in copies)


def _stages_in(room: int, copies: list[StagedCopy]) -> int:
    """How many stages of the buffers there is room for; one there is."""
    stages = room // sum(_bytes(copy) for copy in copies)
    while stages > 1 and _taken(copies, stages) > room:
        stages -= 1
    return max(1, stages)


def _frames(groups: list[CopyGroup], copies: list[StagedCopy]) -> list[ir.Operation]:
    """Barriers, commits and waits of groups of which every copy is moved."""
    moved = [copy.copy for copy in copies]
    return [
        op for group in groups if all(c.copy in moved for c in group.copies) for op in group.frame
    ]


def _explain_held(loop: scf.ForOp, held: list[StagedCopy], kernel: Kernel) -> None:
    kernel.remark(
        loop,
        f"has 2 stages of {sum(map(_bytes, held))} bytes of shared memory; without "
        "cp.async the next iteration's tiles are kept in registers",
    )
