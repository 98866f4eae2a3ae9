"""Why a kernel is compiled again."""

from __future__ import annotations

from collections.abc import Sequence

from .specialization import Specialization


def explained(name: str, found: Specialization, made: Sequence[Specialization]) -> str:
    """What a kernel is compiled for, and how that differs from what it was compiled for before.

    Args:
        name: of the kernel.
        found: what it would be compiled for.
        made: what it was compiled for in this process.
    """
    lines = [f"{name} for", *(f"  {line}" for line in found.lines())]
    if found in made:
        return "\n".join([*lines, "compiled before: nothing to do"])
    if not made:
        return "\n".join([*lines, "not compiled before in this process"])
    nearest = min((found.differences(one) for one in made), key=len)
    if not nearest:
        return "\n".join([*lines, "compiled before with other settings"])
    return "\n".join(
        [
            *lines,
            "to be compiled; it differs from the nearest before in",
            *(f"  {line}" for line in nearest),
        ]
    )
