"""Operands of products that lie in shared memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tilec.dialects.tile.tiles import element_name
from tilec.isa import Operand, Product

from .call import Call
from .memory import View, unpacked
from .numbers import BYTE, Array, Number, named
from .places import find_places

_PIECE = 16
"""Bytes at whose beginning floats of less than 8 bits stand packed, where each has a byte."""


class Side:
    """Operand A or B of a product, which may lie in shared memory.

    Args:
        call: the op.
        name: `a` or `b`.
        form: the instruction.
        extents: rows and columns of the matrix.
        transposed: whether M or N is contiguous in memory.
    """

    def __init__(
        self, call: Call, name: str, form: Product, extents: tuple[int, int], transposed: bool
    ) -> None:
        self._call, self._extents = call, extents
        self._operand: Operand = form.operand(name)
        # Find_places is told whether memory holds the transpose of A or B as they are written.
        self._turned = transposed if name == "a" else not transposed
        self._axis = -1 if name == "a" else -2
        self.number: Number = call.fact(f"number of {name}", lambda: element_of(self._operand))

    def read(self, view: View, indices: Sequence[Array]) -> tuple[Array, Array]:
        """The matrix that begins somewhere in shared memory, and the elements that are read.

        Args:
            view: the memory.
            indices: of the first element, one a dimension, the same for all who read.
        """
        shape = list(self._extents)
        as_bytes = view.buffer.number == BYTE and self.number != BYTE
        padded = self._operand.container > self.number.bits
        if as_bytes and not padded and self.number.bits < BYTE.bits:
            shape[self._axis] //= BYTE.bits // self.number.bits
        places, inside = find_places(
            self._call,
            view,
            indices,
            (shape[0], shape[1]),
            each=False,
            transposed=self._turned,
        )
        if not inside.all():
            self._call.report("bounds", f"reads operand {self._operand.name} outside its buffer")
        found = view.buffer.data[places]
        if as_bytes:
            found = self._padded(found) if padded else self._unpacked(found)
        return found, np.unique(places)

    def _unpacked(self, codes: Array) -> Array:
        return unpacked(codes, self.number, self._call.arithmetic, self._axis)

    def _padded(self, codes: Array) -> Array:
        """Elements of less than 8 bits, sixteen of them packed in every sixteen bytes along K."""
        bits = self.number.bits
        data = np.moveaxis(codes, self._axis, -1).astype(np.uint8)
        pieces = data.reshape(*data.shape[:-1], -1, _PIECE)[..., : _PIECE * bits // 8]
        split = np.unpackbits(pieces, axis=-1, bitorder="little")
        weights = 1 << np.arange(bits)
        each = split.reshape(*data.shape, bits).astype(np.int64) @ weights
        return self._call.arithmetic.decode(np.moveaxis(each, -1, self._axis), self.number)


def element_of(operand: Operand) -> Number:
    """The element type of an operand as it is multiplied; of a padded one without the padding."""
    padded = operand.container == BYTE.bits > operand.type.bits
    return named(operand.type.mlir if padded else element_name(operand))
