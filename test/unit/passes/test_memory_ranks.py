"""Tiles of every rank are loaded, stored and summed into global memory as numpy says.

Layouts are drawn at random, with extents of one, and held by several lanes, warps or registers;
the memref may have further dimensions before the tile's, and end within the tile. Kernels run on
the simulator, whose checks watch bounds and races.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import pytest
import tilec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.isa import TARGETS
from tilec.layout import LinearLayout
from tilec.sim import launch

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}
NAMES = {1: ("row",), 2: ("row", "col"), 3: ("d0", "row", "col"), 4: ("d0", "d1", "row", "col")}


@dataclass(frozen=True)
class Copy:
    """A tile that is read from one memory and written, or summed, to another."""

    shape: tuple[int, ...]
    layout: LinearLayout
    element: str
    leading: int
    extents: tuple[int, ...]
    origin: tuple[int, ...]
    vector: int
    fn: str | None = None
    target: str = "sm_80"
    constant: bool = False
    transposed: bool = False

    @property
    def text(self) -> str:
        warps = self.layout.in_sizes["warp"]
        extents = "x".join(map(str, self.shape))
        tile = f'tensor<{extents}x{self.element}, #tile.layout<"{self.layout}">>'
        rank = len(self.shape) + self.leading
        memory = f"memref<{'?x' * rank}{self.element}>"
        at = [f"%i{dim}" for dim in range(rank)]
        indices = ", ".join(at)
        types = ", ".join(["index"] * rank)
        turned = ", transposed" if self.transposed else ""
        how = f"{{masked, vector = {self.vector} : i64{turned}}}"
        body = "".join(
            f"    %c{dim} = arith.constant {origin} : index\n"
            for dim, origin in enumerate(self.origin)
        )
        if self.constant:
            indices = ", ".join(f"%c{dim}" for dim in range(rank))
        name = "store" if self.fn is None else "atomic"
        more = "" if self.fn is None else f', fn = "{self.fn}"'
        return f"""
gpu.module @m [#nvvm.target<chip = "{self.target}">] {{
  gpu.func @k(%x: {memory}, %y: {memory}, {", ".join(f"{i}: index" for i in at)})
      kernel attributes {{known_block_size = array<i32: {32 * warps}, 1, 1>}} {{
{body}    %t = "tile.load"(%x, {indices}) {how} : ({memory}, {types}) -> {tile}
    "tile.{name}"(%t, %y, {indices}) {how[:-1]}{more}}} : ({tile}, {memory}, {types}) -> ()
    gpu.return
  }}
}}
"""

    @property
    def within(self) -> tuple[int, ...]:
        """The tile's extents in memory."""
        *before, row, col = (1, *self.shape)
        kept = (*before, col, row) if self.transposed else (*before, row, col)
        return kept[1:] if len(self.shape) > 1 else self.shape

    def run(self) -> tuple[np.ndarray, np.ndarray, tilec.Compiled]:
        """What is there afterwards, what should be, and the program."""
        random = np.random.default_rng(1)
        dtype = np.dtype(DTYPES[self.element])
        source = random.integers(1, 50, self.extents).astype(dtype)
        before = random.integers(1, 50, self.extents).astype(dtype)
        got, wanted = before.copy(), before.copy()
        first = self.origin[: self.leading]
        part = tuple(
            slice(o, o + n) for o, n in zip(self.origin[self.leading :], self.within, strict=True)
        )
        moved = source[(*first, *part)]
        update = {None: lambda _, new: new, "arith.addf": np.add, "arith.addi": np.add,
                  "arith.maxsi": np.maximum, "arith.xori": np.bitwise_xor}[self.fn]  # fmt: skip
        wanted[(*first, *part)] = update(wanted[(*first, *part)], moved)
        compiled = tilec.compile(self.text)
        arguments: list[object] = []
        for array in (source, got):
            strides = [s // dtype.itemsize for s in array.strides[:-1]]
            arguments += [array, *array.shape, *strides]
        warps = self.layout.in_sizes["warp"]
        report = launch(compiled.ptx, "k", 1, 32 * warps, [*arguments, *self.origin])
        assert not report.findings
        return got, wanted, compiled


@st.composite
def copies(draw: st.DrawFn) -> Copy:
    """Any tile of rank 1 to 4, held by any threads, once or more often."""
    rank = draw(st.integers(1, 4))
    bits = [draw(st.integers(0, 5 if rank < 3 else 3)) for _ in range(rank)]
    shape = tuple(1 << b for b in bits)
    names = NAMES[rank]
    places = [
        tuple(1 << bit if at == dim else 0 for at in range(rank))
        for dim in range(rank)
        for bit in range(bits[dim])
    ]
    warp_bits = draw(st.integers(0, 2))
    copies_in_registers = draw(st.integers(0, 1))
    short = max(0, 5 + warp_bits - len(places))
    zero = tuple([0] * rank)
    spread = draw(st.permutations([*places, *[zero] * (short + draw(st.integers(0, 2)))]))
    layout = LinearLayout.of(
        {
            "register": [*spread[5 + warp_bits :], *[zero] * copies_in_registers],
            "lane": spread[:5],
            "warp": spread[5 : 5 + warp_bits],
        },
        dict(zip(names, shape, strict=True)),
    )
    leading = draw(st.integers(0, 1))
    # Behind the tile's beginning the memory may end within it.
    vector = draw(st.sampled_from([1, 2, 4]))
    first = [draw(st.integers(0, 2)) for _ in range(leading + rank)]
    first[-1] *= vector
    turned = rank > 1 and draw(st.booleans())
    held = (*shape[:-2], shape[-1], shape[-2]) if turned else shape
    rest = [draw(st.integers(1, n + 3)) for n in held]
    extents = [f + 1 for f in first[:leading]]
    extents += [f + n for f, n in zip(first[leading:], rest, strict=True)]
    extents[-1] = -(-extents[-1] // vector) * vector
    return Copy(
        shape, layout, draw(st.sampled_from(["f16", "f32", "i8", "f64"])), leading,
        tuple(extents), tuple(first), vector, transposed=turned,
    )  # fmt: skip


@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(copies())
def test_any_copy(copy: Copy) -> None:
    got, wanted, _ = copy.run()
    np.testing.assert_array_equal(got, wanted)


ATOMIC = [("arith.addf", "f32"), ("arith.addf", "f16"), ("arith.addf", "bf16"),
          ("arith.addf", "f64"), ("arith.addi", "i32"), ("arith.addi", "i64"),
          ("arith.maxsi", "i32"), ("arith.xori", "i64")]  # fmt: skip


@settings(max_examples=30, derandomize=True, suppress_health_check=list(HealthCheck))
@given(copies(), st.sampled_from(ATOMIC), st.sampled_from(["sm_80", "sm_90"]))
def test_any_update(copy: Copy, what: tuple[str, str], target: str) -> None:
    """Each element is updated once, however many threads hold it."""
    fn, element = what
    update = Copy(
        copy.shape, copy.layout, element, copy.leading, copy.extents, copy.origin, copy.vector,
        fn, "sm_90" if element == "bf16" else target, transposed=copy.transposed,
    )  # fmt: skip
    got, wanted, _ = update.run()
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("target", "element", "mnemonic"),
    [
        ("sm_80", "f16", "red.relaxed.gpu.global.add.noftz.f16x2"),
        ("sm_90", "f16", "red.relaxed.gpu.global.add.noftz.v4.f16x2"),
        ("sm_90", "bf16", "red.relaxed.gpu.global.add.noftz.v4.bf16x2"),
        ("sm_80", "f32", "red.relaxed.gpu.global.add.f32"),
        ("sm_90", "f32", "red.relaxed.gpu.global.add.v4.f32"),
    ],
)
def test_updates_are_wide(target: str, element: str, mnemonic: str, assemblers_for) -> None:
    """Where elements lie side by side one instruction takes as many as it can."""
    layout = LinearLayout.parse(
        "register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0]; warp -> row 16, col 16"
    )
    update = Copy((16, 16), layout, element, 0, (16, 16), (0, 0), 8, "arith.addf", target, True)
    got, wanted, compiled = update.run()
    np.testing.assert_array_equal(got, wanted)
    assert f"{mnemonic} [" in compiled.ptx
    assert compiled.ptx.count("red.") == (2 if element == "f32" else 1) * (
        1 if target == "sm_90" else 4
    )
    for assembler in assemblers_for(TARGETS[target]):
        status, report = assembler.run(compiled.ptx, target)
        assert status == 0, report
