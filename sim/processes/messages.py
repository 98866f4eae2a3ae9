"""What a launch and a worker tell each other, pickled, one after the other.

A worker says `READY` once it has started, and again, or `Failed`, to a `Launch`; then, to each
range of its waves, what they did (`Part`), or `Failed`.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from ..alu import Array
from ..arguments import Image

READY = "ready"
PROTOCOL = 5
_NOT_SENT = ("TILEC_SIM_PROCESSES", "TILEC_SIM_THREADS")


@dataclass(frozen=True)
class Launch:
    """A launch whose first waves have run.

    Attributes:
        text, name: the PTX text, and how errors call it.
        kernel: the kernel's name.
        grid, block: CTAs, and threads of each.
        image: the arguments, without what arrays hold.
        settings: the other arguments of `Run`.
        size: bytes of global memory, which the snapshot holds.
        granules: how it is told apart where CTAs meet: see `GridRaces.restart`.
        environment: variables of tilec.
    """

    text: str
    name: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    image: Image
    settings: Mapping[str, Any]
    size: int
    granules: Mapping[int, tuple[int, int]]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Failed:
    """A launch, or a part of it, that a worker cannot run."""

    why: str


def environment() -> dict[str, str]:
    """The variables of tilec that workers get from this process, as they are now."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("TILEC_") and name not in _NOT_SENT
    }


def adopt(given: Mapping[str, str]) -> None:
    """Have the variables of another process."""
    for name in environment().keys() - given.keys():
        del os.environ[name]
    os.environ.update(given)


def send(to: IO[bytes], message: object) -> None:
    """Send a message."""
    pickle.dump(message, to, PROTOCOL)
    to.flush()


def read_into(file: int, memory: Array) -> None:
    """Fill memory with what a snapshot begins with.

    Raises:
        EOFError: if that is too short.
    """
    view, done = memory.data, 0
    while done < len(view):
        got = os.preadv(file, [view[done:]], done)
        if not got:
            raise EOFError(f"a snapshot of {done} bytes, not {len(view)}")
        done += got


def write_from(file: int, memory: Array) -> None:
    """Have a snapshot hold memory.

    Raises:
        OSError: if there is no room for it.
    """
    os.ftruncate(file, 0)
    view, done = memory.data, 0
    while done < len(view):
        done += os.pwrite(file, view[done:], done)
