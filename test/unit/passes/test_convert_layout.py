"""`tile.convert_layout` moves every element to its place, by whichever plan.

A tile is loaded under one layout, converted, and stored under another, on the simulator; it must
arrive as it left. Were a conversion wrong, elements would change places.
"""

import numpy as np
import pytest
import tilec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.layout import LinearLayout, fragment
from tilec.layout.conversion import conversion_plans, convert
from tilec.layout.plans import Nothing, Permutation, SharedTrip, Shuffles, Transposition
from tilec.layout.tiling import operand_tile, row_tile
from tilec.sim import launch

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}

PROGRAM = """
!S = {source}
!R = {result}
gpu.module @m [#nvvm.target<chip = "sm_90">] {{
  gpu.func @k(%p: {memory}, %q: {memory})
      kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %s = "tile.load"(%p, %c0, %c0) : ({memory}, index, index) -> !S
    %r = "tile.convert_layout"(%s) : (!S) -> !R
    "tile.store"(%r, %q, %c0, %c0) : (!R, {memory}, index, index) -> ()
    gpu.return
  }}
}}
"""


def moves(source: LinearLayout, result: LinearLayout, element: str) -> bool:
    """Whether the tile arrives as it left."""
    rows, cols = source.out_sizes.values()
    warps = source.in_sizes.get("warp", 1)
    wrap = "tensor<{0}, {1}>" if "warp" in source.in_sizes else "!tile.frag<tensor<{0}>, {1}>"
    shape = f"{rows}x{cols}x{element}"
    text = PROGRAM.format(
        source=wrap.format(shape, f'#tile.layout<"{source}">'),
        result=wrap.format(shape, f'#tile.layout<"{result}">'),
        memory=f"memref<{shape}>",
        threads=32 * warps,
    )
    compiled = tilec.compile(text)
    sent = np.arange(rows * cols).reshape(rows, cols).astype(DTYPES[element])
    got = np.zeros_like(sent)
    launch(compiled.ptx, "k", (1, 1, 1), (32 * warps, 1, 1), [sent, got], checks=False)
    return bool((sent == got).all())


def turned(layout: LinearLayout) -> LinearLayout:
    swapped = layout.rename({"row": "col", "col": "row"})
    return swapped.reorder(list(layout.in_sizes), list(layout.out_sizes))


A16 = fragment("m16n8k16", "a", "f16")
C32 = fragment("m16n8k16", "c", "f32")
WIDE = C32 * LinearLayout.identity(2, "register", "col")


@pytest.mark.parametrize(
    ("source", "result", "element", "plan"),
    [
        (A16, A16, "f16", Nothing),
        (WIDE, A16, "f16", Nothing),
        (A16, turned(A16), "f16", Transposition),
        (C32, fragment("m16n8k8", "a", "tf32"), "f32", Shuffles),
        (fragment("m16n8k8", "a", "f64"), fragment("m16n8k8", "c", "f64"), "f64", Shuffles),
        (
            fragment("m16n8k32", "c", "s32") * LinearLayout.identity(4, "register", "col"),
            fragment("m16n8k32", "a", "s8"),
            "i8",
            Shuffles,
        ),
    ],
)
def test_fragments(source, result, element, plan):
    bits = np.dtype(DTYPES[element]).itemsize * 8
    assert any(isinstance(offered, plan) for offered in conversion_plans(source, result, bits))
    assert moves(source, result, element)


def test_registers_change_order():
    bases = A16.bases
    bases["register"].reverse()
    other = LinearLayout.of(bases, A16.out_sizes)
    assert isinstance(convert(A16, other, 16), Permutation)
    assert moves(A16, other, "f16")


@pytest.mark.parametrize("element", ["f16", "f32", "i8"])
def test_between_warps(mma_form, element):
    source = operand_tile(mma_form, "c", 64, 64, (2, 2))
    result = row_tile(64, 64, 8, 4)
    bits = np.dtype(DTYPES[element]).itemsize * 8
    assert isinstance(convert(source, result, bits), SharedTrip)
    assert moves(source, result, element)
    assert moves(result, source, element)


@settings(max_examples=12, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.data())
def test_random_layouts(data):
    warp = data.draw(st.sampled_from([0, 0, 1, 2]))
    register = data.draw(st.integers(0, 3))
    element = data.draw(st.sampled_from(["f16", "f32"]))
    total = register + 5 + warp
    rows = data.draw(st.integers(1, total - 1))
    places = [(1 << b, 0) for b in range(rows)] + [(0, 1 << b) for b in range(total - rows)]
    layouts = []
    for _ in range(2):
        order = data.draw(st.permutations(places))
        bases = {"register": order[:register], "lane": order[register : register + 5]}
        if warp:
            bases["warp"] = order[register + 5 :]
        layouts.append(LinearLayout.of(bases, {"row": 1 << rows, "col": 1 << total - rows}))
    assert moves(*layouts, element)
