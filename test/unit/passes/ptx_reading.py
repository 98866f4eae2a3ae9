"""What PTX says of itself, read by a few patterns of ISA text and by no code of ours.

PTX with `.loc` names the line that each instruction comes from, kernel by kernel.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

_ENTRY = re.compile(r"\.entry (\w+)|\.func .*?(\w+)\(")
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_INSTRUCTION = re.compile(r"\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z][\w.:]*)(?=\s|;|$)")
_SHARED = re.compile(r"(\.extern )?\.shared \.align \d+ \.b8 (\w+)_shared\[(\d*)\]")
_THREADS = re.compile(r"\.(?:maxntid|reqntid) (\d+)(?:, (\d+), (\d+))?")
_REGISTERS = re.compile(r"setmaxnreg\.(?:inc|dec)\S*\s+(\d+)")
_VECTOR = re.compile(r"\.v(\d)")
_TYPE = re.compile(r"\.[bufs](\d+)$")
_COPIED = re.compile(r"\],\s*(\d+)")


class Kernel(NamedTuple):
    """A kernel of PTX.

    Attributes:
        lines: by the line of the source, how often each instruction stands there.
        widths: by that line and the kind of access, such as `ld.global`, the bytes it takes.
        text: all of it.
    """

    lines: dict[int, Counter[str]]
    widths: dict[tuple[int, str], set[int]]
    text: list[str]

    @property
    def threads(self) -> int:
        """Of a CTA, as the kernel declares them."""
        x, y, z = _THREADS.search("\n".join(self.text)).groups()
        return int(x) * int(y or 1) * int(z or 1)

    @property
    def registers(self) -> set[int]:
        """Those that warps ask for."""
        return {int(n) for n in _REGISTERS.findall("\n".join(self.text))}


def kernels(ptx: str) -> dict[str, Kernel]:
    """The kernels and functions of PTX with line information, by name."""
    found: dict[str, Kernel] = {}
    kernel, line = Kernel({}, {}, []), 0
    for text in ptx.splitlines():
        if entry := _ENTRY.search(text):
            kernel = found[entry[1] or entry[2]] = Kernel(
                defaultdict(Counter), defaultdict(set), []
            )
            line = 0
        kernel.text.append(text)
        if loc := _LOC.match(text):
            line = int(loc[1])
        elif instruction := _INSTRUCTION.match(text):
            name = instruction[1]
            kernel.lines.setdefault(line, Counter())[name] += 1
            if found_width := _width(name, text):
                kernel.widths.setdefault((line, _kind(name)), set()).add(found_width)
    return found


def static_shared(ptx: str) -> dict[str, int]:
    """Bytes of shared memory that kernels declare; 0 where the launch says."""
    return {name: int(size or 0) for _, name, size in _SHARED.findall(ptx)}


def _kind(name: str) -> str:
    """The operation and its state space; `generic` where the address says that."""
    operation, space = name.split(".")[:2]
    known = ("global", "shared", "param", "local", "async")
    return f"{operation}.{space if space in known else 'generic'}"


def _width(name: str, text: str) -> int:
    """Bytes that an access of a thread takes; 0 of what is none."""
    if name.startswith(("cp.async.ca.", "cp.async.cg.")):
        return int(_COPIED.search(text.split(",", 1)[1])[1])
    if not name.startswith(("ld.", "st.")):
        return 0
    vector = _VECTOR.search(name)
    return int(_TYPE.search(name)[1]) // 8 * int(vector[1] if vector else 1)
