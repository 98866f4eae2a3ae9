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
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import TilecError, target
from tilec.report.diagnostics import Source
from tilec.sim import SimulationError

from ..interpret.arrays import contents, kernel_of, views

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
    """

    words: str
    types: str
    elements: tuple[str, str, str]
    numpy: tuple[Any, Any, Any]
    k: int
    chunk: int = 4

    @property
    def columns(self) -> list[int]:
        """Where the metadata of each instruction begin: 8-bit elements have two columns."""
        return [0, 1] if self.k < 64 else [0, 2]

    def text(self) -> str:
        d, a, b = self.elements
        ws = " ws" * self.words.startswith("ws")
        size = np.dtype(self.numpy[1]).itemsize
        stored, k = STEPS * self.k // 2, STEPS * self.k
        products = "\n      ".join(
            f"tile.tcgen05_mma_sp %a[%c0, %a{n}], %b[%c0, %b{n}], %d[%c0, %c0] metadata %e[%c0, %e{n}] if %more{n} "
            f'{{form = "tcgen05.mma.{self.words}.a::descriptor", types = "{self.types}"}} : !A, !B, !D metadata !E'
            for n in range(STEPS)
        )
        constants = "\n    ".join(
            f"%a{n} = arith.constant {n * self.k // 2} : index\n    %b{n} = arith.constant {n * self.k} : index\n"
            f"    %e{n} = arith.constant {column} : index\n    %more{n} = arith.constant {'true' if n else 'false'}"
            for n, column in enumerate(self.columns)
        )
        return f"""
!MA = memref<?x?x{a}, strided<[?, 1]>>
!MB = memref<?x?x{b}, strided<[?, 1]>>
!MC = memref<?x?x{d}, strided<[?, 1]>>
!ME = memref<?x?xi32, strided<[?, 1]>>
!A = memref<{M}x{stored}x{a}, #tile.shared<"64B">>
!B = memref<{N}x{k}x{b}, #tile.shared<"128B">>
!D = memref<{M}x{N}x{d}, #tile.tensor<"d{ws}">>
!E = memref<{M}x4xi32, #tile.tensor<"e{ws}">>
!Bar = memref<1xi64, #tile.shared<"none">>
!X = !tile.frag<tensor<32x{N}x{d}>, #tile.layout<"register [0,1] [0,2] [0,4] [0,8] [0,16] [0,32]; {LANES} {N}">>
!W = !tile.frag<tensor<32x4xi32>, #tile.layout<"register [0,1] [0,2]; {LANES} 4">>
gpu.module @m {{
  gpu.func @k(%ma: !MA, %mb: !MB, %me: !ME, %mc: !MC) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
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
      tile.barrier_expect %full[%c0] bytes {size * (M * stored + N * k)} : !Bar
      tile.tma_load %ma[%c0, %c0] to %a[%c0, %c0] signal %full[%c0] shape [{M}, {stored}] : !MA to !A signal !Bar
      tile.tma_load %mb[%c0, %c0] to %b[%c0, %c0] signal %full[%c0] shape [{N}, {k}] : !MB to !B signal !Bar
      tile.barrier_wait %full[%c0] parity %false : !Bar
      {products}
      tile.tcgen05_commit %done[%c0] : !Bar
    }}
    tile.barrier_wait %done[%c0] parity %false : !Bar
    tile.tcgen05_fence after
    %x = tile.tcgen05_ld %d[%row, %c0] {{form = "tcgen05.ld.sync.aligned.32x32b.x{N}.b32"}} : !D -> !X
    %sums = tile.tcgen05_wait_ld %x : !X
    tile.store %sums, %mc[%row, %c0] : !X, !MC
    gpu.return
  }}
}}
"""

    def arguments(self) -> tuple[list[Any], Any]:
        """What is stored of A, B, the metadata, room for D; and D by numpy."""
        rng = np.random.default_rng(self.k)
        k = STEPS * self.k
        if self.chunk == 2:
            kept = rng.integers(0, 2, (M, k // 2, 1))
            codes = np.where(kept[..., 0], 0b1110, 0b0100)
        else:
            pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
            kept = pairs[rng.integers(0, 6, (M, k // 4))]
            codes = kept[..., 0] | kept[..., 1] << 2
        at = (kept + self.chunk * np.arange(k // self.chunk)[None, :, None]).reshape(M, -1)
        stored = rng.integers(-3, 4, at.shape)
        dense = np.zeros((M, k), np.int64)
        np.put_along_axis(dense, at, stored, axis=1)
        right = rng.integers(-3, 4, (N, k))
        d, a, b = self.numpy
        given = [stored.astype(a), right.astype(b), self.words_of(codes), np.zeros((M, N), d)]
        return given, dense @ right.T

    def words_of(self, codes: Any) -> Any:
        """Words of metadata as PTX ISA 9.7.16.10.8 draws them."""
        held = np.zeros((M, 4), np.uint32)
        of_step = self.k // self.chunk
        for m in range(M):
            for place in range(codes.shape[1]):
                step, k = place // of_step, place % of_step * self.chunk
                lane, column, bit = m, k // 32, k % 32
                if self.k <= 32:
                    half = self.k // 2
                    lane = m % 8 + 8 * (k // half) + 16 * (m // 16)
                    column, bit = 0, 16 * (m // 8 % 2) + k % half * 16 // half
                held[lane, column + self.columns[step]] |= np.uint32(int(codes[m, place]) << bit)
        return held.view(np.int32)


F16, F32 = np.float16, np.float32
CASES = [
    Case("sp.cta_group::1.kind::f16", "f32.f16.f16", ("f32", "f16", "f16"), (F32, F16, F16), 32),
    Case("sp.cta_group::1.kind::tf32", "f32.tf32.tf32", ("f32", "f32", "f32"), (F32, F32, F32), 16, 2),
    Case("sp.cta_group::1.kind::i8", "s32.s8.s8", ("i32", "i8", "i8"), (np.int32, np.int8, np.int8), 64),
    Case("ws.sp.cta_group::1.kind::f8f6f4", "f32.e4m3.e5m2", ("f32", "f8E4M3FN", "f8E5M2"),
         (F32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2), 64),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.words)
def test_products(case: Case, assemblers_for: Callable[..., list[Any]]) -> None:
    given, wanted = case.arguments()
    compiled = tilec.compile(case.text(), target="sm_100a", cache=False)
    compiled.launch(*given, grid=1, device="sim").require_ok()
    np.testing.assert_array_equal(given[3].astype(np.int64), wanted)
    for ptxas in assemblers_for(target("sm_100a"))[-1:]:
        assert ptxas.run(compiled.ptx, "sm_100a") == (0, "")
    module, arithmetic = parse(Source("-", case.text()), new_context()), arithmetic_of("algebraic")
    function = kernel_of(module)
    arrays = views(function, [*given[:3], np.zeros_like(given[3])], arithmetic)
    done = interpret(function, arrays, arithmetic, grid=(1, 1, 1), target="sm_100a")
    assert not done.findings
    np.testing.assert_array_equal(contents(arrays[3], done.memories[3]), wanted)


WRONG = [
    (0, 'tcgen05.mma.sp.cta', 'tcgen05.mma.cta', "takes sparse products; tcgen05.mma.cta_group::1.kind::f16.a::descriptor is dense"),
    (0, "kind::f16.a", "kind::mxf4.block_scale.a", "no op is a sparse product with scale factors"),
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
