"""`tile-remove-dead`: drop tile ops whose results nobody uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .base import Pass, walk

EFFECTS = frozenset(
    {
        "tile.async_commit",
        "tile.async_copy",
        "tile.async_wait",
        "tile.atomic",
        "tile.stmatrix",
        "tile.store",
        "tile.wmma_store",
    }
)
"""Ops that matter without a result."""


@dataclass(frozen=True)
class RemoveDead(Pass):
    """Erase tile ops without effect whose results are unused, and what only they used.

    In and out: any level. The ops are not `Pure`, since upstream would then move matrix
    instructions under divergent control flow; so upstream's own clean-up leaves them.
    """

    name: ClassVar[str] = "tile-remove-dead"

    def apply(self, module: Any) -> None:
        """Erase dead ops, users before what they use."""
        for op in reversed([op.operation for op in walk(module.operation)]):
            if not op.name.startswith("tile.") or op.name in EFFECTS:
                continue
            if all(next(iter(result.uses), None) is None for result in op.results):
                op.erase()
