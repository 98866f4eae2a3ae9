"""What codes of metadata mean that the ISA calls undefined: that fall, or name one place twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import Product
from tilec.isa import form as find_form
from tilec.isa import target as find_target

from ..driver import Cuda
from .answer import Row, answer
from .warp import Warp

_SPARSE = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
FORMS = (_SPARSE, "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16.a::descriptor")

_STORED = np.array([1.0, 2.0])
_MET = np.array([1.0, 4.0, 16.0, 64.0])
"""What is stored of a chunk, and what stands at its four places in B: each sum tells them all."""


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each form: row r of A has code r, 0 to 15, in its first chunk, the others none."""
    for name in FORMS:
        form = find_form(name)
        assert isinstance(form, Product)
        if form.min_ptx(find_target(target)) is None:
            continue
        m, n, k = form.shape
        a, b = np.zeros((m, form.operand("a").cols)), np.zeros((k, n))
        e = np.full((m, form.operand("e").cols), 0b0100)
        a[:16, :2], b[:4] = _STORED, _MET[:, None]
        e[:16, 0] = np.arange(16)
        warp = Warp(cuda, form, target)
        got = warp.multiply({"a": a, "b": b, "c": np.zeros((m, n)), "e": e})[:16, 0]
        warp.close()
        yield answer("codes of metadata that are undefined", name, got, hypotheses())


def hypotheses() -> dict[str, np.ndarray]:
    """Bits of the sum for each code, 0 to 15; its low two bits are the first element's place."""
    codes = np.arange(16)
    first, second = codes & 3, codes >> 2
    both = _STORED[0] * _MET[first] + _STORED[1] * _MET[second]
    later = np.where(first == second, _STORED[1] * _MET[second], both)
    earlier = np.where(first == second, _STORED[0] * _MET[first], both)
    ordered = _STORED[0] * _MET[np.minimum(first, second)]
    ordered += _STORED[1] * _MET[np.maximum(first, second)]
    found = {
        "places; of two that coincide the later element counts": later,
        "places; of two that coincide the earlier element counts": earlier,
        "places; of two that coincide both count": both,
        "places in ascending order; both count": ordered,
    }
    return {label: sums.astype(np.float32).view(np.uint32) for label, sums in found.items()}
