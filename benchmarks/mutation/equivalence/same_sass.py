"""Equivalent, since ptxas makes the same machine code of the mutant as of the kernel."""

from __future__ import annotations

from functools import lru_cache

from tilec.backend.cubin import AssemblerError, assemble, disassemble
from tilec.isa.targets import target

from ..kernels import Kernel
from ..operators import Mutant


@lru_cache(maxsize=4)
def sass(ptx: str, arch: str) -> str:
    """The machine code of a module, without the lines that it comes from; empty if it has none."""
    try:
        return disassemble(assemble(ptx, target(arch)).cubin)
    except AssemblerError:
        return ""


def proves(kernel: Kernel, ptx: str, mutant: Mutant) -> bool:
    """Whether the mutant's machine code is the kernel's."""
    code = sass(ptx, kernel.target)
    return bool(code) and sass(mutant.text, kernel.target) == code
