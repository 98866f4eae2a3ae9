"""A block-scaled product of tiles in Python, for mxf8, mxf4 and nvf4, and numpy's of the same.

The kernel names no instruction, ring or pair: for sm_120a the same becomes `mma.sync`. Expected
values are sums in float64 of elements, as ml_dtypes has them, times their factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import tilec
import tilec.lang as tl
from tilec.pipelines import Pipeline
from tilec.runtime import dequantize, quantize

Bytes = tl.Array[tl.uint8, int, int]


@tilec.kernel(warps=4, target="sm_100a")
def gemm(
    a: Bytes,
    b: Bytes,
    scale_a: Bytes,
    scale_b: Bytes,
    c: tl.Array[tl.float32, int, int],
    depth: int,
    element: tl.Constant[Any],
    scale: tl.Constant[Any],
    block: tl.Constant[int],
    rows: tl.Constant[int],
    cols: tl.Constant[int],
    step: tl.Constant[int],
) -> None:
    """C = A·Bᵀ."""
    row, col = tl.program_id(1) * rows, tl.program_id(0) * cols
    acc = tl.zeros((rows, cols))
    for k in range(0, depth, step):
        x = tl.load(a, (row, k), (rows, step), dtype=element)
        y = tl.load(b, (col, k), (cols, step), dtype=element).T
        p = tl.load(scale_a, (row, k // block), (rows, step // block), dtype=scale)
        q = tl.load(scale_b, (col, k // block), (cols, step // block), dtype=scale).T
        acc = tl.dot_scaled(x, p, y, q, acc)
    tl.store(c, (row, col), acc)


class Format(NamedTuple):
    """Elements, and factors of how many of them; the language's types; the instruction's kind."""

    element: str
    factor: str
    block: int
    tile: Any
    scale: Any
    kind: str


FORMATS = {
    "mxf8": Format("e4m3", "ue8m0", 32, tl.float8_e4m3fn, tl.float8_e8m0fnu, "mxf8f6f4"),
    "mxf8 of e5m2": Format("e5m2", "ue8m0", 32, tl.float8_e5m2, tl.float8_e8m0fnu, "mxf8f6f4"),
    "mxf4": Format("e2m1", "ue8m0", 32, tl.float4_e2m1fn, tl.float8_e8m0fnu, "mxf4"),
    "nvf4": Format("e2m1", "ue4m3", 16, tl.float4_e2m1fn, tl.float8_e4m3fn, "mxf4nvf4"),
}


def stored(matrix: Any, apart: int) -> Any:
    """Bytes of a matrix, two 4-bit elements in each, in rows that are so many bytes apart."""
    codes = matrix.view(np.uint8)
    if matrix.dtype.itemsize * 8 > 4 and "float4" in matrix.dtype.name:
        codes = codes[:, ::2] | codes[:, 1::2] << 4
    rows, cols = codes.shape
    memory = np.full((rows, -(-cols // apart) * apart), 0xA5, np.uint8)
    memory[:, :cols] = codes
    return memory[:, :cols]


@dataclass(frozen=True)
class Scaled:
    """A product of a format.

    Attributes:
        name: of the format.
        cols: columns of a tile.
        step: of K that an iteration takes.
        warps: of a CTA that compute.
        apart: bytes whose multiples rows of elements are apart; TMA wants 16.
        rows: of a tile.
    """

    name: str
    cols: int
    step: int
    warps: int = 4
    apart: int = 16
    rows: int = 128

    def arguments(self, extents: tuple[int, int, int]) -> tuple[list[Any], Any]:
        """What the kernel takes of random numbers, the result fifth, and what that is to be.

        Arrays have a block at least, of which without K nothing is multiplied.
        """
        of, (m, n, k) = FORMATS[self.name], extents
        rng = np.random.default_rng([*extents, self.cols])
        whole = max(1, -(-k // of.block)) * of.block
        numbers = [rng.standard_normal((rows, whole)) for rows in (m, n)]
        for one in numbers:
            one[:, k:] = 0
        a, b = (quantize(one, of.element, of.factor, of.block) for one in numbers)
        held = [stored(one.elements, self.apart) for one in (a, b)]
        factors = [stored(one.scales, 4) for one in (a, b)]
        c = np.full((m, n), np.nan, np.float32)
        wanted = dequantize(a) @ dequantize(b).T / (a.factor * b.factor)
        return [*held, *factors, c, k], wanted

    def compiled(self, target: str = "sm_100a", pipeline: Pipeline | None = None) -> tilec.Compiled:
        """The program for any extents, by the target's passes or others."""
        of, how = FORMATS[self.name], {} if pipeline is None else {"pipeline": pipeline}
        arguments, _ = self.arguments((self.rows + 3, self.cols + 3, of.block))
        constants = of.tile, of.scale, of.block, self.rows, self.cols, self.step
        kernel = gemm.using(warps=self.warps, target=target, **how)
        return kernel.compile(*arguments, *constants)

    def run(self, program: tilec.Compiled, extents: tuple[int, int, int], **how: Any) -> None:
        """Launch it on the simulator, without findings, and compare with numpy.

        Args:
            program: it, compiled.
            extents: M, N and K of the matrices.
            how: of the launch.
        """
        arguments, wanted = self.arguments(extents)
        m, n, _ = extents
        grid = -(-n // self.cols), -(-m // self.rows)
        program.launch(*arguments, grid=grid, device="sim", **how)
        atol = 2e-7 * float(np.abs(wanted).max(initial=0))
        np.testing.assert_allclose(arguments[4], wanted, rtol=0, atol=atol)
