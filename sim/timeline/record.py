"""A timeline as data.

A step is one instruction issued by warps of the CTA that stand at it together. Steps say in which
order things happened on the simulator, not how long they take on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["tensor", "shared", "global", "copy", "sync", "other"]
"""What instructions do: products, accesses to shared or tensor memory, to global memory, copies
issued, synchronisation, anything else."""


@dataclass(slots=True)
class Run:
    """Instructions of one kind that a warp issued in steps that follow each other.

    Attributes:
        kind: what they do.
        first, last: the steps, both included.
        instruction: the first of them.
        line: its line in the PTX.
        source: `file:line` of the program that it was compiled from, or empty.
    """

    kind: Kind
    first: int
    last: int
    instruction: str
    line: int
    source: str


@dataclass(slots=True)
class Wait:
    """Steps of other warps during which lanes of a warp waited.

    Attributes:
        first, last: the steps, both included.
        cause: what they waited for.
        line, source: where, as of `Run`.
    """

    first: int
    last: int
    cause: str
    line: int
    source: str


@dataclass(slots=True, eq=False)
class Flight:
    """Something asynchronous, from the step that issued it to the step at which it was complete.

    The simulator completes a copy as late as the program allows: when a thread asks for it.

    Attributes:
        kind: `load` to shared memory, `store` from it, `product` of the tensor cores.
        warps: the warps that issued it.
        first, last: the steps, both included; `last` is the CTA's last where nobody waited.
        count: instructions that were issued together.
        bytes: what bulk and tensor copies move; 0 of others.
        instruction, line, source: the first of them, as of `Run`.
    """

    kind: Literal["load", "store", "product"]
    warps: tuple[int, ...]
    first: int
    last: int
    count: int
    bytes: int
    instruction: str
    line: int
    source: str


@dataclass(slots=True)
class WarpTimeline:
    """What one warp did.

    Attributes:
        warp: its number.
        role: `producer` of a warp that copies to shared memory and issues no product where others
            do, `consumer` of those, else empty.
        runs: the instructions that it issued.
        waits: when it waited.
    """

    warp: int
    role: str = ""
    runs: list[Run] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)


@dataclass(slots=True)
class Record:
    """What the warps of one CTA did, in the order in which the simulator ran them.

    Attributes:
        kernel: its name.
        cta: the CTA's place in the grid, x first.
        steps: how many steps there were.
        cut: whether the CTA went on, and was not recorded any further.
        warps: the warps, in order.
        flights: copies and products in flight, by their first step.
    """

    kernel: str
    cta: tuple[int, int, int]
    steps: int = 0
    cut: bool = False
    warps: list[WarpTimeline] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)
