"""`tile.convert_layout` of tiles of any rank, element and layout changes nothing but the layout.

Tiles of rank 1 to 4, held once or by several registers, lanes or warps, of elements down to one
bit, are loaded under one layout, converted in a loop, and stored under another, on the
simulator, which watches for races; they must arrive as they left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import tilec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.layout import LinearLayout
from tilec.passes.base import remarks
from tilec.sim import launch

NAMES = {1: ("row",), 2: ("row", "col"), 3: ("d0", "row", "col"), 4: ("d0", "d1", "row", "col")}
LOADED = {
    "f16": "f16", "f32": "f32", "f64": "f64", "i8": "i8", "f8E4M3FN": "i8", "i4": "i8",
    "f4E2M1FN": "i8", "i1": "i8",
}  # fmt: skip
"""Elements of what goes through memory here, by those that are converted."""
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}
TO = {
    "f8E4M3FN": [("arith.bitcast", "f8E4M3FN")],
    "i4": [("arith.trunci", "i4")],
    "f4E2M1FN": [("arith.trunci", "i4"), ("arith.bitcast", "f4E2M1FN")],
    "i1": [("arith.trunci", "i1")],
}
BACK = {
    "f8E4M3FN": [("arith.bitcast", "i8")],
    "i4": [("arith.extsi", "i8")],
    "f4E2M1FN": [("arith.bitcast", "i4"), ("arith.extui", "i8")],
    "i1": [("arith.extui", "i8")],
}
RANGE = {"i4": (-8, 8), "f4E2M1FN": (0, 16), "i1": (0, 2)}


@dataclass(frozen=True)
class Conversion:
    """Two layouts of one tile."""

    shape: tuple[int, ...]
    element: str
    source: LinearLayout
    result: LinearLayout

    def tile(self, element: str, layout: LinearLayout) -> str:
        extents = "x".join(map(str, self.shape))
        return f'tensor<{extents}x{element}, #tile.layout<"{layout}">>'

    def _casts(self, name: str, steps: list[tuple[str, str]], layout: LinearLayout) -> str:
        element = LOADED[self.element] if name == "t" else self.element
        text = ""
        for number, (fn, after) in enumerate(steps):
            before, result = self.tile(element, layout), self.tile(after, layout)
            text += f"    %{name}{number + 1} = {fn} %{name}{number} : {before} to {result}\n"
            element = after
        return text

    @property
    def text(self) -> str:
        loaded = LOADED[self.element]
        memory = f"memref<{'x'.join(map(str, self.shape))}x{loaded}>"
        zeros = ", ".join(["%z"] * len(self.shape))
        types = ", ".join(["index"] * len(self.shape))
        to, back = TO.get(self.element, []), BACK.get(self.element, [])
        source, result = (self.tile(self.element, x) for x in (self.source, self.result))
        warps = self.source.in_sizes["warp"]
        return f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%p: {memory}, %q: {memory}, %times: index)
      kernel attributes {{known_block_size = array<i32: {32 * warps}, 1, 1>}} {{
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t0 = "tile.load"(%p, {zeros})
        : ({memory}, {types}) -> {self.tile(loaded, self.source)}
{self._casts("t", to, self.source)}
    %last = scf.for %i = %z to %times step %c1 iter_args(%held = %t{len(to)}) -> ({source}) {{
      %there = "tile.convert_layout"(%held) : ({source}) -> {result}
      %again = "tile.convert_layout"(%there) : ({result}) -> {source}
      scf.yield %again : {source}
    }}
    %r0 = "tile.convert_layout"(%last) : ({source}) -> {result}
{self._casts("r", back, self.result)}
    "tile.store"(%r{len(back)}, %q, {zeros})
        : ({self.tile(loaded, self.result)}, {memory}, {types}) -> ()
    gpu.return
  }}
}}
"""

    def check(self) -> None:
        """Run it, and compare."""
        random = np.random.default_rng(4)
        dtype = DTYPES[LOADED[self.element]]
        # A byte that is not NaN of e4m3.
        sent = random.integers(*RANGE.get(self.element, (0, 120)), self.shape).astype(dtype)
        got = np.zeros_like(sent)
        compiled = tilec.compile(self.text)
        (kernel,) = compiled.kernels
        report = launch(
            compiled.ptx, "k", 1, kernel.block, [sent, got, 2], dynamic_smem=kernel.dynamic_shared
        )
        assert not report.findings
        np.testing.assert_array_equal(got, sent)


@st.composite
def conversions(draw: st.DrawFn) -> Conversion:
    """Any two layouts of one tile over the same warps."""
    rank = draw(st.integers(1, 4))
    bits = [draw(st.integers(0, 6 if rank < 3 else 3)) for _ in range(rank)]
    places = [
        tuple(1 << bit if at == dim else 0 for at in range(rank))
        for dim in range(rank)
        for bit in range(bits[dim])
    ]
    warp = draw(st.integers(0, 2))
    zero = tuple([0] * rank)
    layouts = []
    for _ in range(2):
        copies = max(0, 5 + warp - len(places)) + draw(st.integers(0, 2))
        order = draw(st.permutations([*places, *[zero] * copies]))
        layouts.append(
            LinearLayout.of(
                {"register": order[5 + warp :], "lane": order[:5], "warp": order[5 : 5 + warp]},
                dict(zip(NAMES[rank], (1 << b for b in bits), strict=True)),
            )
        )
    shape = tuple(1 << b for b in bits)
    return Conversion(shape, draw(st.sampled_from(sorted(LOADED))), *layouts)


@settings(max_examples=60, derandomize=True, suppress_health_check=list(HealthCheck))
@given(conversions())
def test_any_conversion(conversion: Conversion) -> None:
    conversion.check()


@pytest.mark.parametrize("element", sorted(LOADED))
def test_every_element_between_warps(element: str) -> None:
    source = LinearLayout.parse(
        "register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [8,0] -> row 16, col 16"
    )
    result = LinearLayout.parse(
        "register [8,0] [0,2]; lane [4,0] [0,8] [1,0] [2,0] [0,1]; warp [0,4] -> row 16, col 16"
    )
    Conversion((16, 16), element, source, result).check()


def test_the_trip_is_explained() -> None:
    source = LinearLayout.parse("register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64")
    result = LinearLayout.parse("register; lane [32] [2] [4] [8] [16]; warp [1] -> row 64")
    with remarks() as found:
        tilec.compile(Conversion((64,), "f32", source, result).text)
    made = [d.message for d in found if d.decided_by == "tile-stage-conversions"]
    assert len(made) == 3
    assert "goes through 256 bytes of shared memory, by 1 st.shared.b32" in made[0]
