"""Programs called ptxas that do not do what ptxas does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_ANSWERS = """#!/bin/sh
case "$1" in
--version) echo "Cuda compilation tools, release 99.0, V99.0.1"; exit;;
--help) echo "Allowed values: 'sm_80', 'sm_90a'"; exit;;
esac
for out; do :; done
"""
"""What a newer ptxas than any says of itself; then `$out` is the file to write."""
_HEADER = r"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\276\0"
"""How an ELF file for GPUs begins."""


class Kind(NamedTuple):
    """What a ptxas does.

    Attributes:
        script: the program.
        code: the exit code of a command that needs it: 0 where another ptxas is asked instead.
        mode: of the file.
    """

    script: str
    code: int
    mode: int = 0o755


KINDS = {
    "hangs": Kind(f"{_ANSWERS}sleep 1000 & echo $! >$(dirname $0)/child; wait\n", 1),
    "gives nothing": Kind(_ANSWERS, 1),
    "gives text": Kind(f"{_ANSWERS}echo {'no cubin ' * 9} >$out\n", 1),
    "cuts off": Kind(f"{_ANSWERS}printf '{_HEADER}' >$out; printf '%0100d' 1 >>$out\n", 1),
    "dies": Kind(f"{_ANSWERS}kill -SEGV $$\n", 1),
    "complains": Kind(f"{_ANSWERS}printf 'error: \\377 no\\n' >&2; exit 3\n", 1),
    "talks": Kind(f"{_ANSWERS}head -c 3000000 /dev/zero | tr '\\0' x; exit 1\n", 1),
    "says no version": Kind("#!/bin/sh\nexit 0\n", 0),
    "never answers": Kind("#!/bin/sh\nsleep 1000 & echo $! >$(dirname $0)/child; wait\n", 0),
    "cannot be run": Kind("#!/no/such/shell\n", 0),
    "is no program": Kind("\0\1\2", 0),
    "may not be run": Kind(_ANSWERS, 0, 0o644),
}  # fmt: skip


def make(folder: Path, kind: str) -> None:
    """Put a ptxas of a kind into the folder `bin` of a folder."""
    path = folder / "bin" / "ptxas"
    path.parent.mkdir()
    path.write_text(KINDS[kind].script)
    path.chmod(KINDS[kind].mode)


def lives(folder: Path) -> bool:
    """Whether a process that the ptxas of a folder has started goes on."""
    path = folder / "bin" / "child"
    if not path.exists():
        return False
    number = int(path.read_text())
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    if state == "Z":
        return False
    os.kill(number, 9)
    return True
