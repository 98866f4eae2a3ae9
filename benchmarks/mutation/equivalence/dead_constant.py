"""Equivalent, since nothing depends on the constant that is left out.

In its place stands a value that ptxas knows nothing of, the lane's number. If the machine code is
that of the kernel, no instruction was left that uses the value, whatever it is.

What a kernel may rely on (`Kernel.assumed`) is written into both texts.
"""

from __future__ import annotations

import re

from ..kernels import Kernel
from ..operators import Mutant
from .same_sass import sass

_CONSTANT = re.compile(r"^\s*mov\.[busf]32\s+(%r\d+), \S+;\s*$")


def proves(kernel: Kernel, ptx: str, mutant: Mutant) -> bool:
    """Whether the machine code is the same with any other value."""
    lines = ptx.splitlines()
    found = _CONSTANT.match(lines[mutant.line - 1])
    if mutant.operator != "no constant" or found is None:
        return False
    for at, line in enumerate(lines):
        for stated, known in kernel.assumed:
            if line.split() == stated.split():
                lines[at] = known
    code = sass("\n".join(lines), kernel.target)
    lines[mutant.line - 1] = f"mov.u32 {found[1]}, %laneid;"
    return bool(code) and sass("\n".join(lines), kernel.target) == code
