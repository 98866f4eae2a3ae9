"""Which NaN comes out: of f64, and of a product whose sign `wgmma` turns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tilec.isa import Product
from tilec.isa import form as find_form
from tilec.runtime import to_registers

from ..driver import Cuda
from .answer import Row, answer
from .warp import Warp

_DOUBLES = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn"
_TURNED = tuple(
    f"wgmma.mma_async.sync.aligned.m64n8{name}.a::descriptor"
    for name in ("k16.f32.f16.f16", "k16.f16.f16.f16", "k32.f32.e4m3.e4m3")
)
_GIVEN = np.array(
    [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000001234, 0x7FF0000000001234], np.uint64
)
"""NaNs of f64: quiet, negative, with a payload, and one that signals."""
_QUIET = np.uint64(1 << 51)


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for f64, and one for each form whose factors are told to change their sign."""
    form = find_form(_DOUBLES)
    assert isinstance(form, Product)
    yield _doubles(cuda, form, target)
    for name in _TURNED:
        turned = find_form(name)
        assert isinstance(turned, Product)
        if target == "sm_90a":
            yield _of_signs(cuda, turned, target)


def _doubles(cuda: Cuda, form: Product, target: str) -> Row:
    """Each NaN stands in C alone, so that it meets none of its kind."""
    m, n, k = form.shape
    warp = Warp(cuda, form, target)
    ones = {
        name: to_registers(form, name, np.ones(shape))
        for name, shape in (("a", (m, k)), ("b", (k, n)))
    }
    like = to_registers(form, "c", np.zeros((m, n)))
    got = [
        warp.execute({**ones, "c": np.full_like(like, given.view(like.dtype))})[0, 0]
        for given in _GIVEN
    ]
    warp.close()
    wanted = {
        "0x7FF8000000000000": np.full_like(_GIVEN, 0x7FF8000000000000),
        "0xFFF8000000000000": np.full_like(_GIVEN, 0xFFF8000000000000),
        "0x7FFFFFFFFFFFFFFF": np.full_like(_GIVEN, 0x7FFFFFFFFFFFFFFF),
        "the NaN of C, quiet": _GIVEN | _QUIET,
    }
    given = {"C": [f"{int(bits_):016x}" for bits_ in _GIVEN]}
    return answer("NaN of f64", form.ptx, np.array(got), wanted, given)


def _of_signs(cuda: Cuda, form: Product, target: str) -> Row:
    """A is NaN, and told to change its sign or not, as B is."""
    m, n, k = form.shape
    matrices = {"a": np.full((m, k), np.nan), "b": np.ones((k, n)), "c": np.zeros((m, n))}
    got = []
    for of_a, of_b in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        warp = Warp(cuda, form, target, {"imm_scale_a": of_a, "imm_scale_b": of_b})
        got.append(warp.multiply(matrices)[0, 0])
        warp.close()
    bits = np.array(got)
    positive = 0x7FFFFFFF if bits.itemsize == 4 else 0x7FFF
    negative = positive | 1 << 8 * bits.itemsize - 1
    wanted = {
        "the same NaN": np.full_like(bits, positive),
        "a NaN whose sign follows": np.array([positive, negative, negative, positive], bits.dtype),
    }
    return answer("NaN of factors whose sign is turned", form.ptx, bits, wanted)
