"""Accesses to global memory that not all threads of the CTA are known to have done with."""

from __future__ import annotations

from math import inf

from tilec.ir.aliases import Op

from .cta_accesses import CtaAccess
from .index_forms import Loops

OPEN = -1
"""The age of a copy whose group is not closed; that of the latest closed group is 0."""
DONE = inf
"""The age of what is complete in the thread that began it."""

Pending = dict[tuple[CtaAccess, Loops], float]
"""Accesses since the last barrier and their ages, with the loops that went on to a further round
since."""


def begun(pending: Pending, access: CtaAccess) -> Pending:
    """What is pending after an access."""
    return joined(pending, {(access, frozenset()): OPEN if access.asynchronous else DONE})


def committed(pending: Pending) -> Pending:
    """What is pending when the open group is closed."""
    return {key: age + 1 for key, age in pending.items()}


def waited(pending: Pending, left: int) -> Pending:
    """What is pending when each thread has waited for all but its latest `left` groups."""
    return {key: DONE if age >= left else age for key, age in pending.items()}


def met(pending: Pending) -> Pending:
    """What is pending after a barrier: what its own thread has not done with."""
    return {key: age for key, age in pending.items() if age < DONE}


def ordered(pending: Pending, age: float) -> Pending:
    """What is pending after a barrier that waits for copies of an age as well."""
    if age < 0:
        pending = waited(committed(pending), 0)
    elif age < DONE:
        pending = waited(pending, int(age))
    return met(pending)


def passed(pending: Pending, loop: Op) -> Pending:
    """What is pending in the next round of a loop."""
    found: Pending = {}
    for (access, loops), age in pending.items():
        key = access, loops | {loop.operation}
        found[key] = min(age, found.get(key, age))
    return found


def joined(*ways: Pending) -> Pending:
    """What is pending after one of several ways: of each access what is least complete."""
    found: Pending = {}
    for way in ways:
        for key, age in way.items():
            found[key] = min(age, found.get(key, age))
    return found
