"""Programs of level 1 whose sums tensor memory holds, and faults put into what becomes of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import tilec

TYPES: dict[str, tuple[str, Any, Any]] = {
    # of factors: of sums; of both for numpy
    "f16": ("f32", np.float16, np.float32),
    "bf16": ("f32", ml_dtypes.bfloat16, np.float32),
    "f8E4M3FN": ("f32", ml_dtypes.float8_e4m3fn, np.float32),
    "f8E5M2": ("f32", ml_dtypes.float8_e5m2, np.float32),
    "i8": ("i32", np.int8, np.int32),
}
_APART = 16
"""Elements whose multiples rows are apart: whole 16 bytes of each type."""


@dataclass(frozen=True)
class Gemm:
    """A product of a CTA's tiles, in a loop over K.

    Attributes:
        element: of the factors.
        tile: rows, columns and depth of a CTA's tile.
        warps: of a CTA.
        turned: whether A, and whether B, lies transposed in memory.
        adds: whether C is added.
        doubles: whether A is computed: twice what memory holds.
    """

    element: str = "f16"
    tile: tuple[int, int, int] = (128, 128, 64)
    warps: int = 4
    turned: tuple[bool, bool] = (False, False)
    adds: bool = False
    doubles: bool = False

    def text(self, target: str = "sm_100a") -> str:
        """The program."""
        m, n, k = self.tile
        total = TYPES[self.element][0]
        each = 16 // np.dtype(TYPES[self.element][1]).itemsize
        at_a = "[%k, %row] masked transposed" if self.turned[0] else "[%row, %k] masked"
        at_b = "[%col, %k] masked transposed" if self.turned[1] else "[%k, %col] masked"
        zero = f"arith.constant dense<{'0' if total == 'i32' else '0.0'}> : !C"
        start = "tile.load %c[%row, %col] masked : !R -> !C" if self.adds else zero
        left, twice = "%ta", ""
        if self.doubles:
            add = "arith.addi" if total == "i32" else "arith.addf"
            left, twice = "%twice", f"%twice = {add} %ta, %ta : !A"
        promise = f"{{tile.aligned = 16 : i64, tile.strides = array<i64: {each}, 1>}}"
        return f"""
!A = tensor<{m}x{k}x{self.element}>
!B = tensor<{k}x{n}x{self.element}>
!C = tensor<{m}x{n}x{total}>
!I = memref<?x?x{self.element}, strided<[?, 1]>>
!R = memref<?x?x{total}, strided<[?, 1]>>
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @gemm(%a: !I {promise}, %b: !I {promise}, %c: !R {{llvm.noalias}}, %depth: index)
      kernel attributes {{known_block_size = array<i32: {32 * self.warps}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %rows = arith.constant {m} : index
    %cols = arith.constant {n} : index
    %step = arith.constant {k} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %cols : index
    %row = arith.muli %y, %rows : index
    %start = {start}
    %product = scf.for %k = %c0 to %depth step %step iter_args(%sum = %start) -> (!C) {{
      %ta = tile.load %a{at_a} : !I -> !A
      %tb = tile.load %b{at_b} : !I -> !B
      {twice}
      %next = tile.dot {left}, %tb, %sum : !A, !B, !C
      scf.yield %next : !C
    }}
    tile.store %product, %c[%row, %col] masked : !C, !R
    gpu.return
  }}
}}
"""

    def run(self, program: tilec.Compiled, extents: tuple[int, int, int], **how: Any) -> None:
        """Launch it on the simulator, without findings, and compare with numpy.

        Args:
            program: it, compiled.
            extents: M, N and K of the matrices.
            how: of the launch.
        """
        m, n, k = extents
        _, factor, total = TYPES[self.element]
        rng = np.random.default_rng(list(extents))
        a, b = (rng.integers(-3, 4, shape) for shape in ((m, k), (k, n)))
        c = rng.integers(-3, 4, (m, n)).astype(total)
        wanted = a @ b * (1 + self.doubles) + (c.astype(int) if self.adds else 0)
        given = [
            _in_memory(values.T if turned else values, factor)
            for values, turned in zip((a, b), self.turned, strict=True)
        ]
        rows, cols, _ = self.tile
        program.launch(*given, c, k, grid=(-(-n // cols), -(-m // rows)), device="sim", **how)
        np.testing.assert_array_equal(c.astype(int), wanted)


def _in_memory(values: Any, type_: Any) -> Any:
    """A matrix whose rows are whole multiples of 16 bytes apart, other numbers between them."""
    rows, cols = values.shape
    memory = np.full((max(rows, 1), -(-cols // _APART) * _APART + _APART), 7).astype(type_)
    memory[:rows, :cols] = values
    return memory[:rows, :cols]


@dataclass(frozen=True)
class Fault:
    """A change to what a program has become at level 3, by a pattern, wherever it stands.

    Attributes:
        name: what is wrong.
        old: the pattern.
        new: what stands there instead.
        kind: of the simulator's first finding; `error` where the compiler refuses it.
    """

    name: str
    old: str
    new: str
    kind: str


FAULTED = Gemm(tile=(128, 64, 32))
"""What the faults are put into: copies by cp.async, three stages, four warps that load the sums."""
FAULTS = (
    Fault("nobody waits for the products", r"\n *tile\.barrier_wait.*", "", "async"),
    Fault("the other parity is waited for", r"%false = arith\.constant false",
          "%false = arith.constant true", "async"),
    Fault("no proxy fence before the products", r"\n *nvvm\.fence\.proxy.*", "", "proxy"),
    Fault("no barrier between copies and products",
          r"(nvvm\.fence\.proxy.*)\n *gpu\.barrier", r"\1", "race"),
    Fault("copies that are not there yet", r"tile\.async_wait 1", "tile.async_wait 2", "race"),
    Fault("a copy to the stage that is read", r"(to %\d+\[)%arg6", r"\1%arg5", "proxy"),
    Fault("sums that begin with what was there", r"arith\.cmpi ne, (%arg\d+)",
          r"arith.cmpi uge, \1", "uninitialised"),
    Fault("a commit that is missing", r"\n *tile\.tcgen05_commit.*", "", "deadlock"),
    Fault("two commits are awaited", r"(barrier_init .* count )1", r"\g<1>2", "deadlock"),
    Fault("another warp's quarter",
          r"(scf\.yield .*: index, index, i1\n(?:.*\n)*?.*arith\.)shli %0, (%c5_\d+)",
          r"\1shrui %0, \2", "error"),
    Fault("the sums' columns are too few", r"(tcgen05_(?:de)?alloc %\d+ columns )64", r"\g<1>32",
          "tensor-memory"),
    Fault("columns that nobody gives back", r"\n *tile\.tcgen05_dealloc.*", "", "tensor-memory"),
    Fault("a wrong swizzle", r'(memref<3x1x128x32xf16, #tile\.shared<")64B', r"\g<1>32B", "error"),
    Fault("types that the kind has not", r'types = "f32\.f16\.f16"', 'types = "f32.f16.bf16"',
          "error"),
)  # fmt: skip
