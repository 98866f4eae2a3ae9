"""Sparse products in tensor memory: compiled, assembled, simulated, interpreted, against numpy."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa import TilecError
from tilec.sim import SimulationError

from .tensor_agreement import agree

M, N, STEPS = 128, 64, 2
LANES = "lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col"


@dataclass(frozen=True)
class Case:
    """A product of 128x64 by two instructions along K.

    Attributes:
        words: of the mnemonic behind `tcgen05.mma`.
        types: of D, A and B.
        elements: in memory.
        numpy: the same.
        k: that an instruction's A stands for.
        chunk: columns of A that a code is of.
        m: rows.
        scaled: whether there are scale factors: one of 64 columns.
    """

    words: str
    types: str
    elements: tuple[str, str, str]
    numpy: tuple[Any, Any, Any]
    k: int
    chunk: int = 4
    m: int = M
    scaled: bool = False

    @property
    def columns(self) -> list[int]:
        """Where the metadata of each instruction begin: 8-bit elements have two columns."""
        return [0, 1] if self.k < 64 else [0, 2]

    def text(self) -> str:
        d, a, b = self.elements
        ws = " ws" * self.words.startswith("ws")
        size = np.dtype(self.numpy[1]).itemsize
        stored, k, width = STEPS * self.k // 2, STEPS * self.k, N * self.m // M
        op = f"tile.tcgen05_mma_sp{'_scaled' * self.scaled}"
        factors = " scale !SA, !SB" * self.scaled
        products = "\n      ".join(
            f"{op} %a[%c0, %a{n}], %b[%c0, %b{n}], %d[%c0, %c0] metadata %e[%c0, %e{n}]"
            + f" scale %sa[%c0, %s{n}], %sb[%c0, %s{n}]" * self.scaled
            + f' if %more{n} {{form = "tcgen05.mma.{self.words}.a::descriptor", types = "{self.types}"}} : !A, !B, !D metadata !E{factors}'
            for n in range(STEPS)
        )
        constants = "\n    ".join(
            f"%a{n} = arith.constant {n * self.k // 2} : index\n    %b{n} = arith.constant {n * self.k} : index\n"
            f"    %e{n} = arith.constant {column} : index\n    %s{n} = arith.constant {n} : index\n    %more{n} = arith.constant {'true' if n else 'false'}"
            for n, column in enumerate(self.columns)
        )
        return f"""
!MA = memref<?x?x{a}, strided<[?, 1]>>
!MB = memref<?x?x{b}, strided<[?, 1]>>
!MC = memref<?x?x{d}, strided<[?, 1]>>
!ME = memref<?x?xi32, strided<[?, 1]>>
!MS = memref<?x?xi8, strided<[?, 1]>>
!F = memref<32x16xi8, #tile.shared<"none">>
!SA = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
!A = memref<{self.m}x{stored}x{a}, #tile.shared<"64B">>
!B = memref<{N}x{k}x{b}, #tile.shared<"128B">>
!D = memref<{self.m}x{N}x{d}, #tile.tensor<"d{ws}">>
!E = memref<{M}x4xi32, #tile.tensor<"e{ws}">>
!Bar = memref<1xi64, #tile.shared<"none">>
!X = !tile.frag<tensor<32x{width}x{d}>, #tile.layout<"register {" ".join(f"[0,{1 << bit}]" for bit in range(width.bit_length() - 1))}; {LANES} {width}">>
!W = !tile.frag<tensor<32x4xi32>, #tile.layout<"register [0,1] [0,2]; {LANES} 4">>
gpu.module @m {{
  gpu.func @k(%ma: !MA, %mb: !MB, %me: !ME, {"%ms: !MS, %mt: !MS, " * self.scaled}%mc: !MC) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %false = arith.constant false
    {constants}
    %a = tile.alloc_shared : !A
    %b = tile.alloc_shared : !B
    %full = tile.alloc_shared : !Bar
    %done = tile.alloc_shared : !Bar
    %d = tile.alloc_tensor : !D
    %e = tile.alloc_tensor : !E
    {self._factors[0]}
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %row = arith.muli %warp, %c32 : index
    %is_first = arith.cmpi eq, %thread, %c0 : index
    scf.if %is_first {{
      tile.barrier_init %full[%c0] count 1 : !Bar
      tile.barrier_init %done[%c0] count 1 : !Bar
      nvvm.fence.mbarrier.init
    }}
    %words = tile.load %me[%row, %c0] : !ME -> !W
    tile.tcgen05_st %words, %e[%row, %c0] {{form = "tcgen05.st.sync.aligned.32x32b.x4.b32"}} : !W, !E
    tile.tcgen05_wait_st
    tile.tcgen05_fence before
    gpu.barrier
    tile.tcgen05_fence after
    scf.if %is_first {{
      tile.barrier_expect %full[%c0] bytes {size * (self.m * stored + N * k) + 1024 * self.scaled} : !Bar
      tile.tma_load %ma[%c0, %c0] to %a[%c0, %c0] signal %full[%c0] shape [{self.m}, {stored}] : !MA to !A signal !Bar
      tile.tma_load %mb[%c0, %c0] to %b[%c0, %c0] signal %full[%c0] shape [{N}, {k}] : !MB to !B signal !Bar
      {self._factors[1]}
      tile.barrier_wait %full[%c0] parity %false : !Bar
      {self._factors[2]}
      {products}
      tile.tcgen05_commit %done[%c0] : !Bar
    }}
    tile.barrier_wait %done[%c0] parity %false : !Bar
    tile.tcgen05_fence after
    {self._sums(width)}
    gpu.return
  }}
}}
"""

    @property
    def _factors(self) -> tuple[str, str, str]:
        """Buffers, copies to shared memory, and from there to tensor memory."""
        if not self.scaled:
            return "", "", ""
        made, copied, moved = [], [], []
        for name, memory, at in (("a", "s", "p"), ("b", "t", "q")):
            made += [
                f"%{at} = tile.alloc_shared : !F",
                f"%s{name} = tile.alloc_tensor : !S{name.upper()}",
            ]
            copied.append(
                f"tile.tma_load %m{memory}[%c0, %c0] to %{at}[%c0, %c0] signal %full[%c0] shape [32, 16] : !MS to !F signal !Bar"
            )
            moved.append(
                f'tile.tcgen05_cp %{at}[%c0, %c0] to %s{name}[%c0, %c0] {{form = "tcgen05.cp.cta_group::1.32x128b.warpx4"}} : !F to !S{name.upper()}'
            )
        return "\n    ".join(made), "\n      ".join(copied), "\n      ".join(moved)

    def _sums(self, width: int) -> str:
        """Each warp loads 32 lanes: of fewer rows a bank of columns is in others."""
        load = f'{{form = "tcgen05.ld.sync.aligned.32x32b.x{width}.b32"}} : !D -> !X'
        parts = []
        for warp in range(4):
            bank, row = divmod(32 * warp, self.m)
            parts.append(f"""%r{warp} = arith.constant {row} : index
    %l{warp} = arith.constant {bank * width} : index
    %w{warp} = arith.constant {warp} : index
    %is{warp} = arith.cmpi eq, %warp, %w{warp} : index
    scf.if %is{warp} {{
      %x = tile.tcgen05_ld %d[%r{warp}, %l{warp}] {load}
      %sums = tile.tcgen05_wait_ld %x : !X
      tile.store %sums, %mc[%r{warp}, %l{warp}] : !X, !MC
    }}""")
        return "\n    ".join(parts)

    def arguments(self) -> tuple[list[Any], Any]:
        """What is stored of A, B, the metadata, room for D; and D by numpy."""
        rng = np.random.default_rng(self.k)
        k, m = STEPS * self.k, self.m
        if self.chunk == 2:
            kept = rng.integers(0, 2, (m, k // 2, 1))
            codes = np.where(kept[..., 0], 0b1110, 0b0100)
        else:
            pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
            kept = pairs[rng.integers(0, 6, (m, k // 4))]
            codes = kept[..., 0] | kept[..., 1] << 2
        at = (kept + self.chunk * np.arange(k // self.chunk)[None, :, None]).reshape(m, -1)
        stored = rng.integers(-3, 4, at.shape)
        dense = np.zeros((m, k))
        np.put_along_axis(dense, at, stored, axis=1)
        right = rng.integers(-3, 4, (N, k)).astype(np.float64)
        d, a, b = self.numpy
        given = [stored.astype(a), right.astype(b), self.words_of(codes)]
        if self.scaled:
            for side in (dense, right):
                power = rng.integers(-1, 3, (len(side), STEPS))
                np.multiply(side, np.repeat(2.0**power, self.k, axis=1), out=side)
                image = np.full((32, 16), 0x70, np.uint8)  # factor j of row r: cuBLAS's order
                for row, step in np.ndindex(power.shape):
                    image[row % 32, row // 32 * 4 + step] = 127 + power[row, step]
                given.append(image.view(np.int8))
        return [*given, np.zeros((m, N), d)], dense @ right.T

    def words_of(self, codes: Any) -> Any:
        """Words of metadata as PTX ISA 9.7.16.10.8 draws them."""
        held = np.zeros((M, 4), np.uint32)
        of_step = self.k // self.chunk
        for m in range(self.m):
            for place in range(codes.shape[1]):
                step, k = place // of_step, place % of_step * self.chunk
                lane, column, bit = m, k // 32, k % 32
                if self.k <= 32:
                    half = self.k // 2
                    lane = m % 8 + 8 * (k // half) + 16 * (m // 16)
                    column, bit = 0, 16 * (m // 8 % 2) + k % half * 16 // half
                held[lane, column + self.columns[step]] |= np.uint32(int(codes[m, place]) << bit)
        return np.tile(held[: self.m], (M // self.m, 1)).view(np.int32)


F16, F32 = np.float16, np.float32
CASES = [
    Case("sp.cta_group::1.kind::f16", "f32.f16.f16", ("f32", "f16", "f16"), (F32, F16, F16), 32),
    Case("sp.cta_group::1.kind::tf32", "f32.tf32.tf32", ("f32", "f32", "f32"), (F32, F32, F32), 16, 2),
    Case("sp.cta_group::1.kind::i8", "s32.s8.s8", ("i32", "i8", "i8"), (np.int32, np.int8, np.int8), 64),
    Case("ws.sp.cta_group::1.kind::f8f6f4", "f32.e4m3.e5m2", ("f32", "f8E4M3FN", "f8E5M2"),
         (F32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2), 64),
    Case("ws.sp.cta_group::1.kind::f16", "f32.f16.f16", ("f32", "f16", "f16"), (F32, F16, F16), 32, m=64),
    Case("ws.sp.cta_group::1.kind::i8", "s32.s8.s8", ("i32", "i8", "i8"), (np.int32, np.int8, np.int8), 64, m=32),
    Case("sp.cta_group::1.kind::mxf8f6f4.block_scale.block32", "f32.e4m3.e5m2", ("f32", "f8E4M3FN", "f8E5M2"),
         (F32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2), 64, scaled=True),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.words} {case.m}")
def test_products(case: Case, assemblers_for: Callable[..., list[Any]]) -> None:
    arithmetic = "f64" if case.scaled else "algebraic"
    given, wanted = case.arguments()
    agree(case.text(), given, wanted, assemblers_for, arithmetic=arithmetic)


WRONG = [
    (0, 'tcgen05.mma.sp.cta', 'tcgen05.mma.cta', "tcgen05.mma.cta_group::1.kind::f16.a::descriptor is the form of a tile.tcgen05_mma"),
    (0, "kind::f16.a", "kind::mxf4.block_scale.a", "tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale.a::descriptor is the form of a tile.tcgen05_mma_sp_scaled"),
    (0, '!E = memref<128x4xi32, #tile.tensor<"e">>', '!E = memref<128x4xi32, #tile.tensor<"a">>', 'lies in #tile.tensor<"e">, not'),
    (2, "%e1 = arith.constant 2", "%e1 = arith.constant 1", "takes 2 of 4 columns, from row 0 and an even column on, not from 1"),
    (0, "%e1 = arith.constant 1", "%e1 = arith.constant 4", "takes 1 of 4 columns, from row 0 and a column on, not from 4"),
    (0, "f32.f16.f16", "f32.f16.bf16", "kind::f16 has no f32 f16 bf16 of D, A, B; legal"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "old", "new", "says"), WRONG)
def test_misuse(number: int, old: str, new: str, says: str) -> None:
    text = CASES[number].text()
    assert old in text
    with pytest.raises(TilecError, match=rf"(?m)^p\.mlir:\d+:\d+: error: .*{re.escape(says)}"):
        _ = tilec.compile(text.replace(old, new), target="sm_100a", name="p.mlir", cache=False).ptx


@pytest.mark.parametrize(
    ("dropped", "says"),
    [("tile.tcgen05_st ", "metadata"), ("tile.tcgen05_wait_st", "before a tcgen05.wait::st")],
)
def test_faults_are_found(dropped: str, says: str) -> None:
    """Metadata that are not stored, or whose stores nobody waits for."""
    case = CASES[0]
    text = re.sub(rf"(?m)^ *{re.escape(dropped)}.*\n", "", case.text())
    given, _ = case.arguments()
    with pytest.raises(SimulationError) as wrong:
        tilec.compile(text, target="sm_100a", cache=False).launch(*given, grid=1, device="sim")
    assert wrong.value.report is not None
    said = [f"{one.kind}: {one.message}" for one in wrong.value.report.findings]
    assert any(says in one for one in said), said
