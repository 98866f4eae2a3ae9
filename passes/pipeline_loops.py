"""`tile-pipeline`: copies to shared memory begin rounds before they are needed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from tilec.dialects.tile.attributes import STAGES
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.mlir import ir
from tilec.isa import LANES, Target, TilecError

from .analysis.async_copies import is_asynchronous
from .analysis.effects import Writers
from .analysis.places import outermost_loop
from .analysis.shared_space import SharedSpace, aligned
from .base import Diagnostic, Pass, PassError, remark, walk
from .emit import constant_of
from .functions import functions, gpu_modules, is_automatic, target_of, threads
from .staging.multistage import Multistage
from .staging.register_stages import RegisterStages, fits_registers
from .staging.staged_copies import CopyGroup, StagedCopy, copy_groups


@dataclass(frozen=True)
class PipelineLoops(Pass):
    """Give the buffers of a loop several stages, and begin each copy that many rounds ahead.

    In and out: level 2; kernels that are `tile.automatic`, and loops that say `tile.stages`. In a
    loop's body, barrier, `tile.async_copy`s, commit, wait for all and
    barrier, as tile-stage-shared writes them, become a prologue before the loop, and in each round
    one wait, one barrier, the copies for a later round while there is one, one commit. A loop's
    attribute `tile.stages = N : i64` says how many stages; 1 leaves it as it is. Copies that are
    not `cp.async`, which sm_75 lacks, become loads to registers at the beginning of the round
    before and stores at its end, where few registers do.

    Attributes:
        stages: of loops that do not say, as far as shared memory has room.
    """

    name: ClassVar[str] = "tile-pipeline"

    stages: int = 3

    def apply(self, module: Any) -> None:
        """Rewrite the loops of every kernel of `module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            target = target_of(gpu_module)
            for function in functions(gpu_module):
                loops = [op for op in walk(function) if op.operation.name == "scf.for"]
                for loop in reversed(loops):  # inner ones first
                    try:
                        with loop.location:
                            self._loop(loop, function, target)
                    except TilecError as error:
                        errors.append(Diagnostic(loop.location, f"'scf.for' op {error}"))
        if errors:
            raise PassError(errors)

    def _loop(self, loop: Any, function: Any, target: Target | None) -> None:
        pinned = _pinned(loop)
        if pinned is None and not is_automatic(function):
            return
        groups = copy_groups(loop, Writers(function))
        movable = [copy for copy in _all(groups) if not _stays(copy)]
        ahead = [copy for copy in movable if is_asynchronous(copy.copy, target)]
        space = SharedSpace(function, target)
        if ahead:
            stages = _stages(loop, ahead, space, self.stages, pinned)
            if stages > 1:
                Multistage(loop, ahead, stages).run(_frames(groups, ahead))
        elif movable and pinned != 1:
            warps = threads(function) // LANES
            more = _size(movable)
            if fits_registers(movable, warps) and more <= space.left(_outermost(loop)):
                _explain_held(loop, movable)
                RegisterStages(loop, movable, warps).run(_frames(groups, movable))


def _all(groups: list[CopyGroup]) -> list[StagedCopy]:
    return [copy for group in groups for copy in group.copies]


def _stays(copy: StagedCopy) -> bool:
    """Whether a copy cannot begin earlier; says why."""
    if copy.obstacle:
        remark(copy.copy.location, f"'tile.async_copy' op is not pipelined: {copy.obstacle}")
    return bool(copy.obstacle)


def _stages(
    loop: Any, copies: list[StagedCopy], space: SharedSpace, wanted: int, pinned: int | None
) -> int:
    """How many stages the loop gets.

    Raises:
        TilecError: if it says more than there is room for.
    """
    size = _size(copies)
    left = space.left(_outermost(loop)) + size
    room = left // size
    stages = min(wanted, room, _rounds(loop)) if pinned is None else pinned
    if stages > room:
        raise TilecError(
            f"{STAGES} = {stages} takes {stages * size} bytes of shared memory, and there are "
            f"{left} of {space.limit}; {room} of {size} each would fit"
        )
    why = f"as {STAGES} says" if pinned is not None else f"{room} would fit"
    remark(
        loop.location,
        f"'scf.for' op has {stages} stages of {size} bytes of shared memory: {why}; copies begin "
        f"{stages - 1} rounds ahead",
    )
    return stages


def _pinned(loop: Any) -> int | None:
    """The stages that a loop says, the attribute taken off it."""
    attributes = loop.operation.attributes
    if STAGES not in attributes:
        return None
    attribute = attributes[STAGES]
    if not isinstance(attribute, ir.IntegerAttr) or int(attribute.value) < 1:
        raise TilecError(f"{STAGES} must be a positive integer, not {attribute}")
    del attributes[STAGES]
    return int(attribute.value)


def _rounds(loop: Any) -> int:
    """How many rounds a loop has at most."""
    lower, upper, step = (constant_of(bound) for bound in list(loop.operation.operands)[:3])
    if lower is None or upper is None or not step:
        return sys.maxsize
    return max(1, -((lower - upper) // step))


def _outermost(loop: Any) -> Any:
    return outermost_loop(loop) or loop.operation


def _size(copies: list[StagedCopy]) -> int:
    """Bytes of one stage."""
    return sum(aligned(shared_buffer(copy.alloc.results[0].type).bytes) for copy in copies)


def _frames(groups: list[CopyGroup], copies: list[StagedCopy]) -> list[Any]:
    """Barriers, commits and waits of groups of which every copy is moved."""
    moved = [copy.copy for copy in copies]
    return [
        op for group in groups if all(c.copy in moved for c in group.copies) for op in group.frame
    ]


def _explain_held(loop: Any, held: list[StagedCopy]) -> None:
    remark(
        loop.location,
        f"'scf.for' op has 2 stages of {_size(held)} bytes of shared memory; without cp.async "
        "the next round's tiles wait in registers",
    )
