"""Offsets of an access that are worked out only where somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..alu import Array


@dataclass(frozen=True, slots=True, eq=False)
class LateOffsets:
    """Where each thread's bytes begin, as its address register had it.

    Attributes:
        register: the addresses; such arrays never change.
        added: what is added to them.
    """

    register: Array
    added: int

    @property
    def size(self) -> int:
        """How many there are."""
        return self.register.size

    def array(self) -> Array:
        """The offsets."""
        return self.register.astype(np.int64) + self.added


Offsets = Array | LateOffsets


def offsets_of(offsets: Offsets) -> Array:
    """Offsets as an array."""
    return offsets.array() if isinstance(offsets, LateOffsets) else offsets
