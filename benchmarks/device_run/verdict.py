"""Whether a result is what was expected, and if not, which element is the first that is wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .simulate import Simulator
from .trial import Executor, Run, Trial, execute


@dataclass(frozen=True)
class Wrong:
    """A result that is not as expected.

    Attributes:
        trial, kind: which run.
        blocks: blocks whose digests differ, and all blocks.
        cta, element: the first wrong element: its CTA, and its number in that CTA's memory; -1
            where the simulator, asked again, gives what the GPU gave.
        got, want: its bits, in hexadecimal digits.
        inputs: memory of the CTA's operands, in hexadecimal digits.
    """

    trial: str
    kind: str
    blocks: tuple[int, int]
    cta: int = -1
    element: int = -1
    got: str = ""
    want: str = ""
    inputs: dict[str, str] | None = None

    def __str__(self) -> str:
        wrong, count = self.blocks
        head = f"{self.trial} on {self.kind}: {wrong} of {count} blocks differ"
        if self.cta < 0:
            return f"{head}, but not from the simulator beside the GPU: its numpy differs"
        return f"{head}; first: CTA {self.cta}, element {self.element}: {self.got}, not {self.want}"


def judge(trial: Trial, run: Run, executor: Executor, simulator: Simulator) -> Wrong | None:
    """Run a kernel and compare digests; where they differ, simulate the first block that does."""
    result = execute(trial, run, executor)
    found = trial.digests(result)
    differing = [
        at for at, pair in enumerate(zip(found, run.digests, strict=True)) if len(set(pair)) > 1
    ]
    if not differing:
        return None
    blocks = len(differing), len(found)
    first = differing[0] * trial.block
    memory, want = simulator.part(trial, run, first, trial.block)
    got, want = (
        trial.comparable(np.ascontiguousarray(r)).view(f"u{trial.result.item}")
        for r in (result[first : first + trial.block], want)
    )
    places = np.argwhere(got != want)
    if not len(places):
        return Wrong(trial.name, run.kind, blocks)
    cta, element = map(int, places[0])
    digits = 2 * trial.result.item
    inputs = {
        name: array[cta].tobytes().hex()
        for name, array in memory.items()
        if name != trial.result.name
    }
    return Wrong(
        trial.name,
        run.kind,
        blocks,
        first + cta,
        element,
        f"0x{got[cta, element]:0{digits}x}",
        f"0x{want[cta, element]:0{digits}x}",
        inputs,
    )
