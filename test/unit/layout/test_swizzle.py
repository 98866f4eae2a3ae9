"""Swizzles are CuTe's: against its definition bit by bit, and against the pictures of TMA."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tilec.isa import UnknownNameError
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.swizzle import NO_SWIZZLE, SWIZZLES, Swizzle, shared_layout

FAST = settings(max_examples=100, derandomize=True)


@st.composite
def swizzles(draw):
    bits = draw(st.integers(0, 4))
    shift = draw(st.sampled_from((-1, 1))) * (bits + draw(st.integers(0, 3)))
    return Swizzle(bits, max(0, -shift) + draw(st.integers(0, 4)), shift)


def cute(b, m, s, offset):
    """CuTe: the bits yyy, moved by s, are added to the bits zzz."""
    yyy = ((1 << b) - 1) << (m + max(0, s))
    part = offset & yyy if s >= 0 else offset & ((1 << b) - 1) << (m + s)
    return offset ^ (part >> s if s >= 0 else part << -s)


@FAST
@given(swizzles(), st.integers(0, 1 << 14))
def test_definition(swizzle, offset):
    assert swizzle(offset) == cute(swizzle.bits, swizzle.base, swizzle.shift, offset)
    assert swizzle(swizzle(offset)) == offset
    assert Swizzle.parse(f"swizzle<{swizzle.bits},{swizzle.base},{swizzle.shift}>") == swizzle
    assert Swizzle.parse(str(swizzle)) == swizzle or swizzle.bits == 0


@FAST
@given(swizzles(), st.sampled_from((1, 4, 8, 16, 32, 64)), st.integers(0, 10))
def test_in_elements(swizzle, bits, log_size):
    size = 1 << log_size
    if swizzle.bits and 8 << swizzle.base + min(swizzle.shift, 0) < bits:
        with pytest.raises(LayoutError, match="apart"):
            swizzle.layout(size, bits)
        return
    layout = swizzle.layout(size, bits)
    for element in range(size):
        bit = element * bits
        if bits >= 8:
            expected = swizzle(bit // 8) * 8 // bits % size
        else:
            expected = (swizzle(bit // 8) * 8 + bit % 8) // bits % size
        assert layout(offset=element) == (expected,)
    assert layout.is_bijective


def test_128_bytes_of_halves():
    """Row r's chunk c of 16 bytes is found in place c ^ (r % 8): 64 columns are 128 bytes."""
    layout = shared_layout({"row": 16, "col": 64}, 16, SWIZZLES["128B"])
    for row in range(16):
        for chunk in range(8):
            for element in range(8):
                offset = row * 64 + (chunk ^ row % 8) * 8 + element
                assert layout(offset=offset) == (row, chunk * 8 + element)


@pytest.mark.parametrize(("name", "chunks"), [("none", 1), ("32B", 2), ("64B", 4), ("128B", 8)])
def test_the_hardwares(name, chunks):
    """A row of the pattern's own width meets the next every 128 bytes."""
    width = 16 * chunks
    layout = shared_layout({"row": 32, "col": width}, 8, SWIZZLES[name])
    for row in range(32):
        line = row * width // 128
        for col in range(width):
            offset = row * width + ((col // 16) ^ (line % chunks)) * 16 + col % 16
            assert layout(offset=offset) == (row, col)


def test_orders():
    assert shared_layout({"row": 4, "col": 8}, 16)(offset=9) == (1, 1)
    assert shared_layout({"row": 4, "col": 8}, 16, order=("row", "col"))(offset=9) == (1, 2)
    small = shared_layout({"row": 2, "col": 8}, 8, SWIZZLES["128B"])
    assert small == shared_layout({"row": 2, "col": 8}, 8)
    plain = LinearLayout.identity(8, "offset", "col") * LinearLayout.identity(2, "offset", "row")
    assert plain.reorder(("offset",), ("row", "col")) == small


def test_refusals():
    with pytest.raises(UnknownNameError, match="unknown swizzle '256B'; legal: none, 32B"):
        Swizzle.parse("256B")
    with pytest.raises(LayoutError, match="XORs bits with themselves"):
        Swizzle(3, 4, 2)
    with pytest.raises(LayoutError, match="negative"):
        Swizzle(1, 0, -1)
    with pytest.raises(LayoutError, match="takes elements of 32 bits apart"):
        shared_layout({"row": 8, "col": 8}, 32, Swizzle(1, 1, 3))
    with pytest.raises(LayoutError, match=r"order \(row\) does not name"):
        shared_layout({"row": 8, "col": 8}, 32, order=("row",))
    with pytest.raises(LayoutError, match="not a power of two; nearest: 8 and 16"):
        shared_layout({"row": 12, "col": 8}, 32)
    assert str(NO_SWIZZLE) == "none"
    assert str(Swizzle(2, 3, 3)) == "swizzle<2,3,3>"
