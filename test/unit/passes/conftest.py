"""What the tests of the passes share."""

from math import prod

import numpy as np
import pytest
import tilec
from hypothesis import strategies as st
from tilec.isa import form
from tilec.layout import LinearLayout
from tilec.layout.gf2 import rank
from tilec.layout.views import dims, reshape
from tilec.sim import launch


@pytest.fixture
def mma_form():
    return form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")


@st.composite
def _tile_layouts(draw, shape, warps, *, mixed=False):
    """Layouts of a whole tile, of which elements may be held more than once.

    Each bit of a register, lane or warp is one of the tile's, or none; mixed, any sum of them.
    """
    bits = [extent.bit_length() - 1 for extent in shape]
    outs = dict(zip(dims(len(shape)), shape, strict=True))
    others = 5 + warps.bit_length() - 1
    size = max(sum(bits), others) + draw(st.integers(0, 1))
    units = [
        tuple(1 << bit if at == axis else 0 for at in range(len(shape)))
        for axis, count in enumerate(bits)
        for bit in range(count)
    ]
    held = [*units, *[(0,) * len(shape)] * (size - len(units))]
    images = [list(image) for image in draw(st.permutations(held))]
    pair = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    for one, other in draw(st.lists(pair, max_size=8)) if mixed else ():
        if one != other:
            images[one] = [a ^ b for a, b in zip(images[one], images[other], strict=True)]
    bases = {"lane": images[:5], "warp": images[5:others], "register": images[others:]}
    layout = LinearLayout.of({name: bases[name] for name in ("register", "lane", "warp")}, outs)
    assert rank(layout.columns) == sum(bits)
    return layout


@pytest.fixture(scope="session")
def tile_layouts():
    return _tile_layouts


_KERNEL = """
!S = {source}
!S2 = {source_2d}
!R = {result}
!R2 = {result_2d}
{types}
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @k(%p: {read}, %q: {written})
      kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %s2 = "tile.load"(%p, %c0, %c0) : ({read}, index, index) -> !S2
    %s = "tile.reshape"(%s2) : (!S2) -> !S
{body}
    %r2 = "tile.reshape"(%r) : (!R) -> !R2
    "tile.store"(%r2, %q, %c0, %c0) : (!R2, {written}, index, index) -> ()
    gpu.return
  }}
}}
"""


def tensor(layout, element):
    """The text of a tensor's type."""
    extents = "x".join(str(extent) for extent in layout.out_sizes.values())
    return f'tensor<{extents}x{element}, #tile.layout<"{layout}">>'


@pytest.fixture(scope="session")
def tensor_text():
    return tensor


def _run_tile(source, result, elements, body, sent, dtype, *, types="", target="sm_90"):
    """What a body that makes `%r : !R` of `%s : !S` does, on the simulator.

    Args:
        source: layout of `!S`.
        result: layout of `!R`.
        elements: element types of both.
        body: the ops.
        sent: what `%s` is.
        dtype: of what comes out.
        types: aliases that the body needs.
        target: what to compile for.

    Returns:
        The array that `%r` is, and the PTX.
    """
    shapes = [tuple(layout.out_sizes.values()) for layout in (source, result)]
    flat = [
        reshape(layout, (prod(shape[:-1]), shape[-1]))
        for layout, shape in zip((source, result), shapes, strict=True)
    ]
    memory = [
        f"memref<{'x'.join(str(n) for n in layout.out_sizes.values())}x{element}>"
        for layout, element in zip(flat, elements, strict=True)
    ]
    warps = source.in_sizes["warp"]
    text = _KERNEL.format(
        source=tensor(source, elements[0]),
        source_2d=tensor(flat[0], elements[0]),
        result=tensor(result, elements[1]),
        result_2d=tensor(flat[1], elements[1]),
        types=types,
        target=target,
        read=memory[0],
        written=memory[1],
        threads=32 * warps,
        body=body,
    )
    compiled = tilec.compile(text)
    got = np.zeros(tuple(flat[1].out_sizes.values()), dtype)
    given = np.ascontiguousarray(sent).reshape(tuple(flat[0].out_sizes.values()))
    launch(compiled.ptx, "k", (1, 1, 1), (32 * warps, 1, 1), [given, got])
    return got.reshape(shapes[1]), compiled.ptx


@pytest.fixture(scope="session")
def run_tile():
    return _run_tile
