"""What commands of `--debug` are given, and how values are shown."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import TilecError, nearest
from tilec.sim import Breakpoint, Stop
from tilec.sim.stepping.shared import values

Matrix = NDArray[Any]

ALIASES = {
    "b": "break", "bt": "where", "c": "continue", "cont": "continue", "f": "fragment", "h": "help",
    "l": "list", "n": "next", "p": "print", "q": "quit", "s": "step", "si": "stepi", "w": "waits",
    "x": "memory",
}  # fmt: skip
"""Short names of commands."""

HELP = {
    "break": "break LINE|FILE:LINE|FUNCTION, b: stop there; without a place, list breakpoints.",
    "continue": "continue, c: go on to the next breakpoint or finding.",
    "delete": "delete N: delete a breakpoint.",
    "finish": "finish: go on until the thread has left the function.",
    "fragment": "fragment [NAME [LINE]], f: an operand of a matrix instruction, as a matrix.",
    "help": "help [COMMAND], h: what commands do.",
    "list": "list [LINE], l: the PTX around a line.",
    "memory": "memory ADDRESS COUNT TYPE, x: numbers in global memory.",
    "next": "next, n: the same, and pass over calls.",
    "print": "print REGISTER [as TYPE] [all], p: its value, or that of every lane of the warp.",
    "quit": "quit, q: end the launch.",
    "shared": "shared ADDRESS ROWSxCOLS TYPE [SWIZZLE]: a matrix in shared memory, unswizzled.",
    "step": "step, s: go on to another line of the program, or of the PTX if it has no `.loc`.",
    "stepi": "stepi, si: go on to the thread's next instruction.",
    "thread": "thread [N] [cta X,Y,Z]: look at a thread of the CTA, or of another one.",
    "threads": "threads: where the threads in flight stand.",
    "waits": "waits, w: who waits for what.",
    "where": "where, bt: the calls that the thread is in.",
}
"""What commands take and do."""

_SHAPE = re.compile(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,18}")
_THREAD = re.compile(r"(?P<n>[0-9]{1,6})?\s*(?:cta\s+(?P<cta>[0-9]{1,9}(?:,[0-9]{1,9}){0,2}))?")
_PRINT = re.compile(r"(?P<name>%\S+)(?:\s+as\s+(?P<type>\w+))?(?P<all>\s+all)?")


def unknown(name: str) -> str:
    """What is said of a command that there is not."""
    close = ", ".join(nearest(name, HELP)[:3])
    return f"no command '{name}'; nearest: {close}; help lists them"


def nothing(given: str) -> None:
    """Refuse what follows a command that takes nothing."""
    if given:
        raise TilecError(f"the command takes nothing, not '{given}'")


def described(breakpoint_: Breakpoint, stop: Stop) -> str:
    """A breakpoint, its places, and how often it was hit."""
    hits = f", hit {breakpoint_.hits} times" if breakpoint_.hits else ""
    return f"{breakpoint_.describe(stop.module)}{hits}"


def thread_of(given: str) -> tuple[int | None, tuple[int, ...] | None]:
    """The thread and the CTA of `[N] [cta X,Y,Z]`."""
    found = _THREAD.fullmatch(given.strip())
    if found is None or not given.strip():
        raise TilecError(f"'{given}' is not [N] [cta X,Y,Z]")
    cta = None if found["cta"] is None else tuple(map(int, found["cta"].split(",")))
    return (None if found["n"] is None else int(found["n"])), cta


def print_of(given: str) -> tuple[str, str | None, bool]:
    """The register, the type and whether every lane is meant, of `REGISTER [as TYPE] [all]`."""
    found = _PRINT.fullmatch(given.strip())
    if found is None:
        raise TilecError(f"'{given}' is not REGISTER [as TYPE] [all]")
    return found["name"], found["type"], found["all"] is not None


def shared_of(given: str) -> tuple[int | str, tuple[int, int], str, str]:
    """What `ADDRESS ROWSxCOLS TYPE [SWIZZLE]` says."""
    words = given.split(maxsplit=3)
    shape = _SHAPE.fullmatch(words[1]) if len(words) >= 3 else None
    if shape is None:
        raise TilecError(f"'{given}' is not ADDRESS ROWSxCOLS TYPE [SWIZZLE]")
    swizzle = words[3] if len(words) == 4 else "none"
    return _address(words[0]), (int(shape[1]), int(shape[2])), words[2], swizzle


def memory_of(given: str) -> tuple[int | str, int, str]:
    """What `ADDRESS COUNT TYPE` says."""
    words = given.split()
    if len(words) != 3 or not re.fullmatch("[1-9][0-9]{0,5}", words[1]):
        raise TilecError(f"'{given}' is not ADDRESS COUNT TYPE")
    return _address(words[0]), int(words[1]), words[2]


def _address(word: str) -> int | str:
    return int(word, 0 if word[:2] in ("0x", "0X") else 10) if _NUMBER.fullmatch(word) else word


def decoded(lanes: Matrix, type_: str) -> Matrix:
    """Registers of lanes as values of a type, (32,) or (32, elements)."""
    if lanes.dtype == np.bool_:
        return lanes
    if type_.startswith("b") and type_[1:].isdigit():
        return lanes.view(f"u{lanes.dtype.itemsize}")
    raw = np.ascontiguousarray(lanes).view(np.uint8).reshape(len(lanes), -1)
    found = values(raw, type_)
    return found[:, 0] if found.shape[1] == 1 else found


def value(name: str, found: Any, lane: int | None) -> str:
    """`%r1 = 7 (0x7)`, with the lane before it where all are told."""
    where = "" if lane is None else f"lane {lane:2}: "
    if isinstance(found, np.ndarray):
        return f"{where}{name} = {', '.join(map(_number, found))}"
    bits = f" ({int(found):#x})" if np.issubdtype(type(found), np.unsignedinteger) else ""
    return f"{where}{name} = {_number(found)}{bits}"


def rows(matrix: Matrix) -> list[str]:
    """The rows of a matrix, in columns of one width."""
    cells = [[_number(one) for one in row] for row in matrix]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return [" ".join(cell.rjust(width) for cell in row) for row in cells]


def _number(found: Any) -> str:
    if isinstance(found, bool | np.bool_):
        return str(int(found))
    if isinstance(found, int | np.integer):
        return str(int(found))
    return f"{float(found):.6g}"
