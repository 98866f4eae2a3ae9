"""Tiles pass through global and shared memory unharmed, wherever they lie in it.

A tile is read from a strided matrix, written to a swizzled buffer, read back under another
layout, and written out, on the simulator, whose checks watch bounds, alignment and races; numpy
says what must arrive. Layouts, swizzles, extents, indices, masks and widths are drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import tilec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.layout import LinearLayout
from tilec.layout.swizzle import Swizzle
from tilec.sim import launch

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}
SHARED = 64 << 10
"""Bytes that a CTA has on every target."""
MATRIX = "memref<?x?x{0}, strided<[?, 1], offset: ?>>"


@dataclass(frozen=True)
class Place:
    """An index: a kernel argument times `factor`, and a constant."""

    argument: int
    factor: int
    constant: int

    @property
    def value(self) -> int:
        return self.argument * self.factor + self.constant

    def text(self, name: str) -> str:
        return (
            f"    %{name}_f = arith.constant {self.factor} : index\n"
            f"    %{name}_c = arith.constant {self.constant} : index\n"
            f"    %{name}_p = arith.muli %{name}_arg, %{name}_f : index\n"
            f"    %{name} = arith.addi %{name}_p, %{name}_c : index\n"
        )


@dataclass(frozen=True)
class Trip:
    """What a kernel does with a tile of `rows` by `cols` in global memory."""

    element: str
    target: str
    warps: int
    block: tuple[int, int, int]
    rows: int
    cols: int
    layouts: tuple[LinearLayout, LinearLayout]
    transposed: tuple[bool, bool]
    copied: bool
    masked: bool
    vector: int
    extents: tuple[int, int]
    padding: int
    offset: int
    buffers: int
    buffer: tuple[int, int]
    swizzle: str
    at: dict[str, Place]

    @property
    def torn(self) -> bool:
        """Whether a copy wants neighbours in one piece that the swizzle takes apart."""
        size = np.dtype(DTYPES[self.element]).itemsize * self.vector
        swizzle = Swizzle.parse(self.swizzle)
        line = range(0, self.buffer[0] * self.buffer[1] * size // self.vector, size)
        return self.copied and any(
            swizzle(start + byte) != swizzle(start) + byte or swizzle(start) % size
            for start in line
            for byte in range(0, size, size // self.vector)
        )

    def tile(self, number: int) -> str:
        first, second = self.layouts[number].out_sizes.values()
        return f'tensor<{first}x{second}x{self.element}, #tile.layout<"{self.layouts[number]}">>'

    @property
    def text(self) -> str:
        matrix = MATRIX.format(self.element)
        rows, cols = self.buffer
        swizzle = f'#tile.shared<"{self.swizzle}">'
        shared = f"memref<{self.buffers}x{rows}x{cols}x{self.element}, {swizzle}>"
        access = [f"vector = {self.vector}", *(["masked"] if self.masked else [])]
        first, second = (["transposed"] if t else [] for t in self.transposed)
        arguments = ", ".join(f"%{name}_arg: index" for name in self.at)
        body = "".join(place.text(name) for name, place in self.at.items())
        if self.copied:
            shape = f"shape = array<i64: {self.rows}, {self.cols}>"
            body += f"""
    "tile.async_copy"(%x, %s, %i, %j, %n, %r, %c) {{{", ".join([shape, *access])}}}
        : ({matrix}, {shared}, index, index, index, index, index) -> ()
    "tile.async_commit"() : () -> ()
    "tile.async_wait"() {{pending = 0}} : () -> ()"""
        else:
            body += f"""
    %t = "tile.load"(%x, %i, %j) {{{", ".join([*access, *first])}}}
        : ({matrix}, index, index) -> {self.tile(0)}
    "tile.store"(%t, %s, %n, %r, %c) {{{", ".join(first)}}}
        : ({self.tile(0)}, {shared}, index, index, index) -> ()"""
        return f"""
gpu.module @m [#nvvm.target<chip = "{self.target}">] {{
  gpu.func @k(%x: {matrix}, %y: {matrix}, {arguments})
      kernel attributes {{known_block_size = array<i32: {", ".join(map(str, self.block))}>}} {{
    %z = arith.constant 0 : index
    %s = "tile.alloc_shared"() : () -> {shared}
{body}
    gpu.barrier
    %u = "tile.load"(%s, %n, %r, %c) {{{", ".join(second)}}}
        : ({shared}, index, index, index) -> {self.tile(1)}
    "tile.store"(%u, %y, %z, %z) : ({self.tile(1)}, {matrix}, index, index) -> ()
    gpu.return
  }}
}}
"""

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """What arrives, and what should."""
        dtype = DTYPES[self.element]
        rows, cols = self.extents
        stride = cols + self.padding
        memory = np.arange(1, self.offset + rows * stride + 1).astype(dtype)
        matrix = memory[self.offset :].reshape(rows, stride)[:, :cols]
        i, j = self.at["i"].value, self.at["j"].value
        padded = np.pad(matrix, ((self.rows, self.rows), (self.cols, self.cols)))
        wanted = padded[self.rows + i :, self.cols + j :][: self.rows, : self.cols]
        wanted = wanted.T if self.transposed[1] else wanted
        got = np.zeros(wanted.shape, dtype)
        compiled = tilec.compile(self.text)
        arguments = [memory, rows, cols, stride, self.offset, got, *got.shape, got.shape[1], 0]
        arguments += [place.argument for place in self.at.values()]
        (kernel,) = compiled.kernels
        report = launch(
            compiled.ptx, "k", 1, kernel.block, arguments, dynamic_smem=kernel.dynamic_shared
        )
        assert not report.findings
        return got, wanted


def _layout(data: st.DataObject, rows: int, cols: int, warps: int) -> LinearLayout:
    """Any distribution of a tile over lanes, warps and registers."""
    places = [(1 << b, 0) for b in range(rows.bit_length() - 1)]
    places += [(0, 1 << b) for b in range(cols.bit_length() - 1)]
    order = data.draw(st.permutations(places))
    over = warps.bit_length() - 1
    ends = (5, 5 + over)
    return LinearLayout.of(
        {"register": order[ends[1] :], "lane": order[:5], "warp": order[5 : ends[1]]},
        {"row": rows, "col": cols},
    )


def _matrices(rows: int, cols: int, element: str, warps: int, *, turned: bool) -> LinearLayout:
    """As matrix instructions hold it: 8x8 matrices of 32-bit rows of four lanes."""
    inner, outer = ("row", "col") if turned else ("col", "row")
    sizes = {"row": rows, "col": cols}
    packed = max(1, 4 // np.dtype(DTYPES[element]).itemsize)
    identity = LinearLayout.identity
    layout = identity(packed, "register", inner) * identity(4, "lane", inner)
    layout *= identity(8, "lane", outer)
    warped = min(warps, sizes[outer] // 8)
    layout *= identity(sizes[outer] // 8 // warped, "register", outer)
    layout *= identity(sizes[inner] // (4 * packed), "register", inner)
    layout *= identity(warped, "warp", outer) * LinearLayout.zeros(warps // warped, "warp")
    return layout.reorder(("register", "lane", "warp"), ("row", "col"))


@st.composite
def trips(draw: st.DrawFn) -> Trip:
    """Any trip that the ops allow."""
    data = draw(st.data())
    pick = lambda *values: draw(st.sampled_from(values))  # noqa: E731 (shorter where it is used)
    element, warps = pick("f16", "f16", "f32", "f64", "i8"), pick(1, 2, 4)
    rows, cols = pick((8, 32), (16, 16), (32, 16), (16, 64), (64, 16))
    copied, masked = draw(st.booleans()), draw(st.booleans())
    size = np.dtype(DTYPES[element]).itemsize
    vector = pick(*(v for v in (1, 2, 4, 8, 16) if v * size <= 16))
    transposed = (False, draw(st.booleans())) if copied else (draw(st.booleans()),) * 2
    turned = transposed[1]
    shape = (cols, rows) if turned else (rows, cols)
    layouts = []
    for number in range(2):
        this = shape if (number or not copied) else (rows, cols)
        fits = 4 * max(1, 4 // size) <= min(this)
        if fits and draw(st.booleans()):
            layouts.append(_matrices(*this, element, warps, turned=draw(st.booleans())))
        else:
            layouts.append(_layout(data, *this, warps))
    buffer = (rows * pick(1, 2), cols * pick(1, 2, 4))
    if 2 * size * buffer[0] * buffer[1] > SHARED:
        buffer = (rows, cols)
    swizzle = pick("none", "32B", "64B", "128B", "swizzle<2,4,3>", "swizzle<1,5,4>")
    if size <= 4:
        swizzle = pick(swizzle, "swizzle<2,2,3>", "swizzle<3,3,3>") if size < 8 else swizzle
    units = vector if copied else 1
    down, right = buffer[0] - rows, buffer[1] - cols
    extents = (rows + draw(st.integers(0, 9)), _up(cols + draw(st.integers(0, 20)), vector))
    at = {
        "i": _within(draw, extents[0], 1, -rows) if masked else _within(draw, extents[0] - rows, 1),
        "j": _within(draw, extents[1], vector, -cols)
        if masked
        else _within(draw, extents[1] - cols, vector),
        "n": Place(pick(0, 1), 1, 0),
        "r": _within(draw, down, 1),
        "c": _within(draw, right, units),
    }
    return Trip(
        element=element,
        target=pick("sm_75", "sm_80", "sm_90"),
        warps=warps,
        block=pick((32 * warps, 1, 1), (16, 2 * warps, 1), (8, 4, warps)),
        rows=rows,
        cols=cols,
        layouts=(layouts[0], layouts[1]),
        transposed=transposed,
        copied=copied,
        masked=masked,
        vector=vector,
        extents=extents,
        padding=vector * draw(st.integers(0, 2)),
        offset=vector * draw(st.integers(0, 3)),
        buffers=2,
        buffer=buffer,
        swizzle=swizzle,
        at=at,
    )


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _within(draw: st.DrawFn, last: int, unit: int, first: int = 0) -> Place:
    """An index from `first` to `last`, a multiple of `unit`, as argument and constant."""
    factor = unit * draw(st.sampled_from([1, 1, 2, 4, 8, 16]))
    argument = draw(st.integers(-(-first // factor), last // factor))
    rest = last - argument * factor
    return Place(argument, factor, unit * draw(st.integers(0, rest // unit)))


@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(trips())
def test_any_trip(trip: Trip) -> None:
    if trip.torn:
        with pytest.raises(tilec.TilecError, match="at a time are not contiguous"):
            trip.run()
        return
    got, wanted = trip.run()
    np.testing.assert_array_equal(got, wanted)
