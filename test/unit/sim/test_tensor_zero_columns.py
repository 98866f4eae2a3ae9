"""Columns of B that count as 0 in `tcgen05.mma.ws`, by the mask behind it.

What the mask says is written down here once more, column by column, from PTX ISA 9.7.16.10.9.3.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tilec.isa import TARGETS, TilecError
from tilec.isa.instructions import named
from tilec.isa.tensor_product_kernel import tensor_product_kernel
from tilec.isa.tensor_products import TensorProduct
from tilec.isa.zero_columns import ZeroColumns
from tilec.sim import PtxError, Report, launch


def product(words: str) -> TensorProduct:
    found = named(f"tcgen05.mma.{words}.a::descriptor")
    assert isinstance(found, TensorProduct)
    return found


ONE, SPARSE = product("ws.cta_group::1.kind::f16"), product("ws.sp.cta_group::1.kind::tf32")


def counted_as_zero(word: int, m: int, n: int) -> list[bool]:
    """Of each column, by walking through the runs of its part of the mask."""
    parts = {128: 1, 64: 2, 32: 4}[m]
    found: list[bool] = []
    for part in range(parts):
        start, zero = word >> 8 * part & 0xFF, bool(word >> 32 + part & 1)
        runs = {True: (word >> 40 & 0xFF) + 1, False: (word >> 48 & 0xFF) + 1}
        sequence: list[bool] = []
        while len(sequence) < start + n // parts:
            sequence += [zero] * runs[zero]
            zero = not zero
        found += sequence[start : start + n // parts]
    return found if word >> 39 & 1 else [False] * n


def masks() -> list[tuple[int, int, int]]:
    """Words, M and N."""
    draw = random.Random(4)
    found = []
    for m, n in ((128, 64), (64, 128), (32, 256), (32, 64), (128, 256), (64, 64)):
        for longest in (2, 9, 200):
            word = sum(draw.randrange(256) << 8 * part for part in range(4))
            word |= draw.randrange(16) << 32 | 1 << 39
            word |= draw.randrange(longest) << 40 | draw.randrange(longest) << 48
            found.append((word, m, n))
    return found


@pytest.mark.parametrize(("word", "m", "n"), masks())
def test_which_columns(word: int, m: int, n: int) -> None:
    mask = ZeroColumns.decode(word)
    assert mask.encode() == word
    assert list(mask.columns(m, n)) == counted_as_zero(word, m, n)
    assert not any(ZeroColumns.decode(word & ~(1 << 39)).columns(m, n))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"used": 0}, "used of a zero-column mask is 1 to 256, not 0"),
        ({"zero": 257}, "zero of a zero-column mask is 1 to 256, not 257"),
        ({"starts": (0, 256, 0, 0)}, "starts 1 of a zero-column mask is 0 to 255, not 256"),
        ({"shift": 64}, "shift of a zero-column mask is 0 to 63, not 64"),
    ],
)
def test_what_its_bits_do_not_hold(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(TilecError, match=says):
        ZeroColumns(**fields)
    with pytest.raises(TilecError, match="bits 0x1000000000 have no meaning"):
        ZeroColumns.decode(1 << 36)


def masked(word: str, m: int, n: int, one: TensorProduct = ONE) -> str:
    """A kernel of one product with a mask."""
    described = one.describe(("f32", "f16", "f16") if one is ONE else (), m=m, n=n)
    text = tensor_product_kernel(one, TARGETS["sm_100a"], described).ptx
    text, count = re.subn(r"(tcgen05\.mma\.ws.*), %adds;", rf"\1, %adds, {word};", text)
    assert count == 1
    return text


def run(text: str, m: int, n: int, b: NDArray[Any]) -> tuple[NDArray[Any], Report]:
    """What D holds, lane by lane, of ones and a B that is given, added to 100."""
    width = n * m // 128
    d, c = np.zeros((128, width), np.float32), np.full((128, width), 100, np.float32)
    a = np.ones((m, 16), np.float16)
    shown = [d, a.view(np.uint8), np.ascontiguousarray(b).view(np.uint8), c]
    return d, launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a")


@pytest.mark.parametrize(("word", "m", "n"), masks()[::4])
@pytest.mark.parametrize("constant", [True, False])
def test_products(word: int, m: int, n: int, constant: bool) -> None:
    """Columns that count as 0 are 0 whatever they hold, infinities too."""
    text = masked(f"{word:#x}" if constant else "%mask", m, n)
    if not constant:
        moved = f"    .reg .b64 %mask; mov.b64 %mask, {word:#x};\n    mov.u32 %lane"
        text = text.replace("    mov.u32 %lane", moved, 1)
    zero = np.array(counted_as_zero(word, m, n))
    b = np.repeat((np.arange(n) % 7 - 3).astype(np.float16)[:, None], 16, axis=1)
    b[zero] = np.inf
    d, report = run(text, m, n, b)
    report.require_ok()
    sums = 100 + 16 * np.where(zero, 0, np.arange(n) % 7 - 3)
    banks = sums.reshape(128 // m, -1)
    np.testing.assert_array_equal(d, np.repeat(banks, m, axis=0))


def test_sparse_products_take_it() -> None:
    """Nothing is left of B, so D stays."""
    text = masked(f"{1 << 39 | 1 << 32 | 255 << 40:#x}", 128, 64, SPARSE)
    buffers = tensor_product_kernel(
        SPARSE, TARGETS["sm_100a"], SPARSE.describe(m=128, n=64)
    ).buffers
    shown = [np.ones(one.shape, np.float32 if one.bits == 32 else np.uint8) for one in buffers]
    names = [one.name for one in buffers]
    shown[names.index("meta")] = np.full((128, 2), 0x44444444, np.uint32)
    shown[names.index("d")][:] = 0
    launch(text, "try_instruction", (1,), (128,), shown, arch="sm_100a").require_ok()
    np.testing.assert_array_equal(shown[0], np.ones_like(shown[0]))


def test_what_is_refused() -> None:
    """What the ISA does not say of a constant at its line, of a register where it is executed."""
    for word, says in ((1 << 56, "its mask moves B by 1 column"), (1 << 38, "have no meaning")):
        with pytest.raises(PtxError, match=rf"(?s):\d+.*tcgen05\.mma\.ws.*{says}"):
            run(masked(f"{word:#x}", 128, 64), 128, 64, np.zeros((64, 16), np.float16))
        text = masked("%mask", 128, 64)
        moved = f"    .reg .b64 %mask; mov.b64 %mask, {word:#x};\n    mov.u32 %lane"
        text = text.replace("    mov.u32 %lane", moved, 1)
        _, report = run(text, 128, 64, np.zeros((64, 16), np.float16))
        assert any(says in one.message for one in report.findings), report.findings
