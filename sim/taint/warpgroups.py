"""Products of warpgroups: A and B may lie in shared memory."""

from __future__ import annotations

import numpy as np

from ..alu import Array
from ..tensor.indices import from_matrix, to_matrix
from ..warpgroup_product import Warpgroup
from .flows import Flow, Flowing
from .marks import combined, resolved
from .products import Flags, dependent, flags_of, registers_of


def multiply(flowing: Flowing) -> Flow:
    """`wgmma.mma_async`."""
    product = flowing.binding.product
    assert isinstance(product, Warpgroup)
    return _Product(flowing, product).flow


class _Product:
    """One product, whose flow is sought."""

    def __init__(self, flowing: Flowing, product: Warpgroup) -> None:
        self.flowing = flowing
        self.product = product
        self.form = product.form

    def flow(self) -> None:
        """What is undefined of D."""
        flowing, taint, product = self.flowing, self.flowing.taint, self.product
        where = flowing.binding.instruction
        sides = product.sides.values()
        shared = [slot for side in sides if side.shared for slot in side.slots]
        taint.harm_by(where, shared, "has a descriptor made of")
        taint.memory.follow()
        places = product.places()
        if not len(places):
            return
        adds = product.reads_c(places)
        rows, columns = (self._dirty(name, places) for name in "ab")
        c = self._c(places) & adds[:, None, None]
        d = dependent(rows, columns, c)
        others = [s for s in (product.scale_d, product.metadata) if s is not None]
        if taint.any(others):
            d = np.ones_like(d)
        origin = self._origin(places)
        shadows = registers_of(self.form.operand("d"), from_matrix(self.form, "d", d))
        for number, slot in enumerate(product.targets):
            bits = flowing.machine.full(flowing.replay.shadows([slot])[slot]).copy()
            bits[product.rows(places)] = shadows[:, number].reshape(len(places), 4, -1)
            taint.write(slot, bits, origin)

    def _c(self, places: Array) -> Flags:
        taken = self.flowing.replay.shadows(self.product.targets)
        registers = self.product.gathered([taken[s] for s in self.product.targets], places)
        operand = self.form.operand("c")
        return np.asarray(to_matrix(self.form, "c", flags_of(operand, registers)))

    def _dirty(self, name: str, places: Array) -> Flags:
        """Rows of A, or columns of B, with anything undefined: (warpgroups, m or n)."""
        side, product = self.product.sides[name], self.product
        if not side.shared:
            taken = self.flowing.replay.shadows(side.slots)
            registers = product.gathered([taken[slot] for slot in side.slots], places)
            flags = to_matrix(self.form, name, flags_of(side.operand, registers))
            return np.asarray(flags.any(axis=-1))
        found = product.raw(side, places, self.flowing.taint.memory.data)
        return np.stack([(rows != 0).any(axis=1) for rows in found])

    def _origin(self, places: Array) -> Array:
        """One origin for each warp."""
        taint, product = self.flowing.taint, self.product
        where = self.flowing.binding.instruction
        _, origin = combined(taint.of(where, self.flowing.sources))
        origin = np.array(self.flowing.machine.full(origin.max(axis=2, keepdims=True)))
        for side in product.sides.values():
            if not side.shared:
                continue
            for (cta, group), at in zip(places.tolist(), product.spans(side, places), strict=True):
                bytes_ = at[..., None] + np.arange(16)
                dirty = np.where(taint.memory.data[bytes_] != 0, taint.memory.origin[bytes_], 0)
                most = resolved(np.asarray(dirty.max()), where)
                warps = slice(4 * group, 4 * group + 4)
                origin[cta, warps] = np.maximum(origin[cta, warps], most)
        return np.asarray(origin)
