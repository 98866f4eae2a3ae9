"""Proofs that a mutant is the same function as its kernel, with the same guarantees.

A mutant without a finding is counted as equivalent only if one of these criteria holds for it,
each in a file of its own:

* `same-sass`: ptxas makes the same machine code of both.
* `dead-constant`: ptxas makes the same machine code with any other value in its place.
* `held-constant`: on every path the register has the constant already.
* `unused-constant`: the constant is replaced wherever it would be used, as Z3 proves.
* `complete-copies`: the copies that are waited for are complete, by an earlier wait of the thread.
"""

from __future__ import annotations

from collections.abc import Callable

from ..kernels import Kernel
from ..operators import Mutant
from . import complete_copies, dead_constant, held_constant, same_sass, unused_constant

Criterion = Callable[[Kernel, str, Mutant], bool]
"""Whether it proves that a mutant of a kernel's PTX is equivalent."""
CRITERIA: dict[str, Criterion] = {
    "held-constant": held_constant.proves,
    "complete-copies": complete_copies.proves,
    "unused-constant": unused_constant.proves,
    "same-sass": same_sass.proves,
    "dead-constant": dead_constant.proves,
}


def proof(kernel: Kernel, ptx: str, mutant: Mutant) -> str:
    """The first criterion by which a mutant is equivalent; empty if there is none."""
    return next((name for name, of in CRITERIA.items() if of(kernel, ptx, mutant)), "")
