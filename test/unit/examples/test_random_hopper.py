"""Random programs of level 1 for sm_90a, run on the simulator against numpy.

Each is a product drawn from what warpgroups take and what they decline: element types, extents of
the tile and of the matrices, warps, either operand transposed in memory, promised alignment or
none, bounds or none, A computed on the way, a result that is cast or becomes A of a second product,
its instruction pinned or left open, warps that load beside those that compute or none, CTAs that
take one tile or several, in either order, on few SMs or many, two warpgroups in turn, extents that
are loaded and CTAs without work, two products, or a wait for kernels before this one. More:
TILEC_RANDOM_HOPPER=1000 pytest …
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa import LANES, WARPGROUP_THREADS, target
from tilec.pipelines import pipeline

COUNT = int(os.environ.get("TILEC_RANDOM_HOPPER", "24"))

TYPES: dict[str, tuple[str, str, str, Any, Any]] = {
    # of factors and sums in tiles, of factors in memory; of both for numpy
    "f16": ("f16", "f32", "f16", np.float16, np.float32),
    "bf16": ("bf16", "f32", "bf16", ml_dtypes.bfloat16, np.float32),
    "halves": ("f16", "f16", "f16", np.float16, np.float16),
    "tf32": ("tf32", "f32", "f32", np.float32, np.float32),
    "i8": ("i8", "i32", "i8", np.int8, np.int32),
    "e4m3": ("f8E4M3FN", "f32", "f8E4M3FN", ml_dtypes.float8_e4m3fn, np.float32),
}

_MOST = 128 * 128 // 4
"""Elements of an accumulator a warp, 128 registers of 32 bits of each thread."""
_IN_TURN = 0.8
"""Of programs of one warpgroup those that ask for two that take tiles in turn."""
_GUARDED, _GATED = 0.15, 0.15
"""Of programs those whose extents are loaded, and those with two products."""
_WHOLE, _WAITING = 0.5, 0.1
"""Of programs those with wide results in rows of whole 16 bytes, as the kernel is promised, and
those that wait for kernels before them."""


@dataclass(frozen=True)
class Program:
    """What is drawn."""

    kind: str
    warps: int
    tile: tuple[int, int, int]
    extents: tuple[int, int, int]
    a_turned: bool
    b_turned: bool
    aligned: bool
    computed: bool
    chained: bool
    pinned: bool
    alone: bool
    narrow: bool
    grid: tuple[int, int]
    pins: str
    sms: int
    guarded: bool = False
    gated: bool = False
    whole: bool = False
    waiting: str = ""

    @classmethod
    def draw(cls, seed: int) -> Program:
        draw = random.Random(seed)
        kind = draw.choice(["f16", "f16", "bf16", "halves", "tf32", "i8", "e4m3"])
        warps = draw.choice([4, 8, 8, 8])
        turned = (0.4, 0.5) if np.dtype(TYPES[kind][3]).itemsize == 2 else (0.1, 0.9)  # of A, of B
        tile = (
            draw.choice([64, 128, 128, 128, 32, 192]),
            draw.choice([16, 32, 64, 128, 24, 72, 80, 96, 192]),
            draw.choice([32, 64, 128, 96]),
        )
        if tile[0] * tile[1] > _MOST * warps:
            tile = (64, *tile[1:])
        grid = draw.choice([(1, 1), (2, 1), (1, 2), (2, 2), (3, 1)])
        ragged = draw.random() < 0.6
        m, n, k = grid[0] * tile[0], grid[1] * tile[1], draw.choice([1, 2, 3, 5]) * tile[2]
        if ragged:
            m, n, k = m - draw.randrange(20), n - draw.randrange(14), k - draw.randrange(30)
        narrow = kind in ("f16", "bf16") and draw.random() < 0.7
        if narrow:  # rows of whole 16 bytes, as the kernel is promised
            n = max(8, n // 8 * 8)
        return (
            cls(
                kind,
                warps,
                tile,
                (m, n, k),
                draw.random() < turned[0],
                draw.random() < turned[1],
                draw.random() < 0.85,
                kind in ("f16", "bf16") and draw.random() < 0.3,
                kind in ("f16", "bf16") and tile[1] in (64, 80, 96) and draw.random() < 0.6,
                draw.random() < 0.1,
                draw.random() < 0.5,
                narrow,
                grid,
                draw.choice(["", "", ", tile.persistent = false", ", tile.rasterize = 2 : i64"]),
                draw.choice([1, 2, 3, 132]),
            )
            ._in_turn(draw)
            ._varied(draw)
        )

    def _in_turn(self, draw: random.Random) -> Program:
        """The same, often with tiles that two warpgroups are to take in turn."""
        wanted = self.warps == WARPGROUP_THREADS // LANES and draw.random() < _IN_TURN
        return replace(self, pins=f"{self.pins}, tile.pingpong = true") if wanted else self

    def _varied(self, draw: random.Random) -> Program:
        """The same, at times with what the first programs did not have."""
        guarded, gated = draw.random() < _GUARDED, draw.random() < _GATED
        one = replace(self, guarded=guarded, gated=gated and self.kind != "halves")
        if draw.random() < _WAITING:
            one = replace(one, waiting=draw.choice(["before", "behind"]))
        if self.narrow or draw.random() >= _WHOLE:
            return one
        m, n, k = self.extents
        return replace(one, whole=True, extents=(m, max(8, n // 8 * 8), k))

    def text(self) -> str:
        """The program."""
        factor, result, stored, _, _ = TYPES[self.kind]
        m, n, k = self.tile
        each = 16 // np.dtype(TYPES[self.kind][3]).itemsize
        promise = (
            f"{{tile.aligned = 16 : i64, tile.strides = array<i64: {each}, 1>}}"
            if self.aligned
            else ""
        )
        array = f"memref<?x?x{stored}, strided<[?, 1]>>"
        held = factor if self.narrow else result
        out = f"memref<?x?x{held}, strided<[?, 1]>>"
        kept = "llvm.noalias" + (self.narrow or self.whole) * (
            ", tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>, "
            "tile.strides = array<i64: 8, 1>"
        )
        a, b = f"tensor<{m}x{k}x{factor}>", f"tensor<{k}x{n}x{factor}>"
        c, square = f"tensor<{m}x{n}x{result}>", f"tensor<{n}x{n}x{factor}>"
        zero = "0" if result == "i32" else "0.0"
        at_a = "[%k, %row] masked transposed" if self.a_turned else "[%row, %k] masked"
        at_b = "[%col, %k] masked transposed" if self.b_turned else "[%k, %col] masked"
        taken = "%ta"
        lines = [f"%ta = tile.load %a{at_a} : {array} -> {a}"]
        if self.computed:
            lines.append(f"%more = arith.addf %ta, %ta : {a}")
            taken = "%more"
        pin = '{form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}' * (
            self.pinned and self.kind == "f16"
        )
        body = "\n".join(lines)
        last, behind = "%sum", ""
        carried, given, types, again = "%old = %zero", "%new", c, ""
        if self.gated:  # each product adds its half
            last, add = "%both", "addi" if result == "i32" else "addf"
            carried, given, types = "%old = %zero, %other = %zero", "%new, %gate", f"{c}, {c}"
            again = f"\n      %gate = tile.dot {taken}, %tb, %other {pin} : {a}, {b}, {c}"
            behind = f"\n    %both = arith.{add} %sum, %sums#1 : {c}"
        waits = dict.fromkeys(("", "before", "behind"), "")
        waits[self.waiting] = "nvvm.griddepcontrol wait"
        summed = "%sums:2" if self.gated else "%sum"
        first = "%sums#0" if self.gated else "%sum"
        behind = behind.replace("%sum,", f"{first},")
        if self.chained:
            before, last = last, "%second"
            behind += f"""
    %p = arith.truncf {before} : {c} to tensor<{m}x{n}x{factor}>
    %tv = tile.load %v[%c0, %c0] masked : {array} -> {square}
    %second = tile.dot %p, %tv, %zero : tensor<{m}x{n}x{factor}>, {square}, {c}"""
        stored_as = c
        if self.narrow:
            stored_as = f"tensor<{m}x{n}x{factor}>"
            behind += f"\n    %narrow = arith.truncf {last} : {c} to {stored_as}"
            last = "%narrow"
        more, depth, enter, leave = "", "%depth", "", ""
        if self.guarded:  # of rows and of K as many as memory says
            more, depth, leave = ", %extents: memref<?xi32>", "%deep", "}"
            enter = "\n    ".join(
                [
                    *_loaded("height", "%c0"),
                    "%c1 = arith.constant 1 : index",
                    *_loaded("deep", "%c1"),
                    "%some = arith.cmpi slt, %row, %height : index",
                    "scf.if %some {",
                ]
            )
        return f"""
gpu.module @m [#nvvm.target<chip = "sm_90a">] {{
  gpu.func @random(%a: {array} {promise}, %b: {array} {promise}, %v: {array} {promise},
                   %c: {out} {{{kept}}}, %depth: index{more})
      kernel attributes {{known_block_size = array<i32: {32 * self.warps}, 1, 1>{self.pins}}} {{
    %c0 = arith.constant 0 : index
    %step = arith.constant {k} : index
    %rows = arith.constant {m} : index
    %cols = arith.constant {n} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %y, %rows : index
    %col = arith.muli %x, %cols : index
    %zero = arith.constant dense<{zero}> : {c}
    {enter}
    {waits["before"]}
    {summed} = scf.for %k = %c0 to {depth} step %step iter_args({carried}) -> ({types}) {{
      {body}
      %tb = tile.load %b{at_b} : {array} -> {b}
      %new = tile.dot {taken}, %tb, %old {pin} : {a}, {b}, {c}{again}
      scf.yield {given} : {types}
    }}
    {waits["behind"]}{behind}
    tile.store {last}, %c[%row, %col] masked : {stored_as}, {out}
    {leave}
    gpu.return
  }}
}}
"""

    def compiled(self) -> tilec.Compiled:
        """The program, compiled; a single warpgroup may have others load for it, too."""
        chosen = pipeline(target("sm_90a"))
        if self.alone:
            one = "tile-specialize-warps{least=1}"
            chosen = chosen.replaced("tile-specialize-warps", one)
        return tilec.compile(self.text(), pipeline=chosen)

    def arrays(self, seed: int) -> tuple[list[Any], Any]:
        """A, B, V as memory has them, C; and what C must become."""
        rng = np.random.default_rng(seed)
        m, n, k = self.extents
        _, _, _, factor, result = TYPES[self.kind]
        few = 2 if self.kind == "halves" else 3
        a, b = (rng.integers(-few, few + 1, shape) for shape in ((m, k), (k, n)))
        v = rng.integers(-1, 2, (self.tile[1], self.tile[1]))
        if self.narrow or self.chained:  # what is cast must be exact in 16 bits
            a, b = np.sign(a) * (rng.random(a.shape) < 0.3), np.sign(b)
        wanted = a @ b * (2 if self.computed else 1) * (2 if self.gated else 1)
        if self.chained:
            block = self.tile[1]
            whole = np.zeros((m, self.grid[1] * block), int)
            whole[:, :n] = np.array(wanted).astype(factor)  # A of the second product
            parts = [whole[:, at : at + block] @ v for at in range(0, whole.shape[1], block)]
            wanted = np.concatenate(parts, axis=1)[:, :n]
        turned = a.T if self.a_turned else a, b.T if self.b_turned else b, v
        arrays = [_in_memory(values, factor) for values in turned]
        held = factor if self.narrow else result
        wanted = np.array(wanted).astype(held).astype(int)
        c = np.full((m, -(-n // 8) * 8 + 8), 77).astype(held)
        return [*arrays, c[:, :n]], (c, wanted)


def _loaded(name: str, at: str) -> list[str]:
    """Ops that load a number."""
    return [
        f"%{name}_tile = tile.load %extents[{at}] masked : memref<?xi32> -> tensor<1xi32>",
        f"%{name}_word = tile.reduce arith.maxsi %{name}_tile axis 0 : tensor<1xi32> -> i32",
        f"%{name} = arith.index_cast %{name}_word : i32 to index",
    ]


def _in_memory(values: Any, type_: Any) -> Any:
    """A matrix whose rows are whole multiples of 16 elements apart, other numbers between them."""
    rows, cols = values.shape
    memory = np.full((rows, -(-cols // 16) * 16 + 16), 7).astype(type_)
    memory[:, :cols] = values
    return memory[:, :cols]


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_program(seed: int) -> None:
    program = Program.draw(seed)
    arrays, (c, wanted) = program.arrays(seed)
    compiled = program.compiled()
    rows, cols = program.grid
    depth = program.extents[2]
    given = [*arrays, depth]
    if program.guarded:  # the last row of CTAs has nothing to do
        given[-1:] = [0, np.array([program.extents[0], depth], np.int32)]
        rows += 1
    compiled.launch(*given, grid=(cols, rows), device="sim", sms=program.sms)
    n = program.extents[1]
    np.testing.assert_array_equal(c[:, :n].astype(int), wanted, err_msg=str(program))
    assert (c[:, n:].astype(int) == 77).all()


def test_what_is_drawn_meets_both() -> None:
    drawn = [Program.draw(seed) for seed in range(COUNT)]
    texts = [program.compiled().ptx for program in drawn]
    for instruction in ("wgmma", "setmaxnreg", "bulk_group"):
        assert {instruction in text for text in texts} == {True, False}
    counts = {program.compiled().kernels[0].ctas_per_sm for program in drawn}
    assert counts == {1, None}
