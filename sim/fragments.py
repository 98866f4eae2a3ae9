"""Operands of matrix instructions: registers of all warps in one array."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

import numpy as np

from .alu import Array
from .registers import Registers
from .tensor.fragment import Fragment
from .widths import dtype_of


class Fragments:
    """Registers of operands gathered for all warps, and spread again.

    What has been gathered, or spread as a result, is kept while the registers still hold those
    arrays: operands used by several instructions are gathered once, accumulators never.
    """

    def __init__(self, wave: Registers) -> None:
        self.wave = wave
        self._known: dict[tuple[int, ...], tuple[list[Array], Fragment]] = {}

    def clear(self) -> None:
        """Forget what has been gathered."""
        self._known.clear()

    def known(self, slots: tuple[int, ...]) -> Fragment | None:
        """What has been gathered from registers, or spread to them, if they still hold it."""
        known = self._known.get(slots)
        if known is None:
            return None
        registers = self.wave.registers
        same = all(map(is_, known[0], [registers[slot] for slot in slots]))
        return known[1] if same else None

    def gather(self, slots: tuple[int, ...], bits: int) -> Fragment:
        """Registers as (warps, registers, lanes), with what products have decoded from them."""
        registers = self.wave.registers
        arrays = [registers[slot] for slot in slots]
        known = self._known.get(slots)
        if known is not None and all(map(is_, known[0], arrays)):
            return known[1]
        ctas, warps, lanes = self.wave.shape
        together = np.empty((ctas, warps, len(slots), lanes), dtype_of(bits))
        for number, array in enumerate(arrays):
            together[:, :, number] = array
        fragment = Fragment(together.reshape(ctas * warps, len(slots), lanes))
        self._known[slots] = (arrays, fragment)
        return fragment

    def spread(self, slots: Sequence[int | None], fragment: Fragment) -> None:
        """Write (warps, registers, lanes) to registers."""
        wave = self.wave
        ctas, warps, lanes = wave.shape
        split = fragment.registers.reshape(ctas, warps, len(slots), lanes)
        arrays = [split[:, :, number] for number in range(len(slots))]
        for slot, array in zip(slots, arrays, strict=True):
            if slot is not None:
                wave.write(slot, array)
        if wave.merge is None:
            self._known[tuple(-1 if s is None else s for s in slots)] = (arrays, fragment)

    def defer(self, slots: Sequence[int | None], fragment: Fragment) -> None:
        """Keep a result for the product that gathers it next; the registers stay as they are."""
        known = tuple(slot for slot in slots if slot is not None)
        self._known[known] = [self.wave.registers[slot] for slot in known], fragment
