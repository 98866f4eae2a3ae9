"""Why a kernel is compiled again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilec.isa.wording import counted

from .snapshot import Snapshot
from .specialization import Specialization

_SHOWN = 8
"""Values that differ which are shown."""


def explained(
    name: str,
    found: Specialization,
    state: Snapshot,
    made: Sequence[tuple[Specialization, tuple[str, ...]]],
) -> str:
    """What a kernel is compiled for, and how that differs from what it was compiled for before.

    Args:
        name: of the kernel.
        found: what it would be compiled for.
        state: what it reads now.
        made: what it was compiled for in this process, and the lines of what it read then.
    """
    lines = [f"{name} for", *(f"  {line}" for line in found.lines())]
    if state.reason is not None:
        why = "rebuilt at every launch, since some of what it reads cannot be recorded:"
        return "\n".join([*lines, why, f"  {state.reason}"])
    if (found, state.lines) in made:
        return "\n".join([*lines, "compiled before: nothing to do"])
    if not made:
        return "\n".join([*lines, "not compiled before in this process"])
    nearest = min(
        ([*found.differences(one), *_changes(state.lines, read)] for one, read in made), key=len
    )
    if not nearest:
        return "\n".join([*lines, "compiled before with other settings"])
    return "\n".join(
        [
            *lines,
            "to be compiled; it differs from the nearest before in",
            *(f"  {line}" for line in nearest),
        ]
    )


def _changes(now: Sequence[str], then: Sequence[str]) -> Iterator[str]:
    """What is read now and was not then."""
    before = dict(line.split(" = ", 1) for line in then)
    changed = [line.split(" = ", 1) for line in now if line not in then]
    for label, value in changed[:_SHOWN]:
        yield f"{label} = {value}, there {before.get(label, 'nothing')}"
    if len(changed) > _SHOWN:
        yield f"{counted(len(changed) - _SHOWN, 'more value')}"
