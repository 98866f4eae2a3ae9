"""C = A·B + C written on tiles without layouts is what numpy computes.

For every element type of `tile.dot` and every target that has an instruction for it; tiles that
divide the problem and ragged ones; operands as they are and transposed in memory; tiles so small
that some warps hold copies. Elements are small integers, so that every form is exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.passes.base import ProgramError


@dataclass(frozen=True)
class Types:
    """Element types of a product: MLIR's names in tiles and in memory, and numpy's."""

    tile: str
    memory: str
    sum: str
    dtype: Any
    sum_dtype: Any
    unsigned: bool = False


F16 = Types("f16", "f16", "f32", np.float16, np.float32)
TYPES = {
    "f16": F16,
    "f16_f16": Types("f16", "f16", "f16", np.float16, np.float16),
    "bf16": Types("bf16", "bf16", "f32", ml_dtypes.bfloat16, np.float32),
    "tf32": Types("tf32", "f32", "f32", np.float32, np.float32),
    "f64": Types("f64", "f64", "f64", np.float64, np.float64),
    "e4m3": Types("f8E4M3FN", "i8", "f32", ml_dtypes.float8_e4m3fn, np.float32),
    "e5m2": Types("f8E5M2", "i8", "f32", ml_dtypes.float8_e5m2, np.float32),
    "s8": Types("i8", "i8", "i32", np.int8, np.int32),
    "u8": Types("i8", "i8", "i32", np.uint8, np.int32, unsigned=True),
    "s4": Types("i4", "i8", "i32", np.int8, np.int32),
    "u4": Types("i4", "i8", "i32", np.uint8, np.int32, unsigned=True),
}
TARGETS = {
    "sm_75": ("f16", "f16_f16", "s8", "u8", "s4", "u4"),
    "sm_80": ("f16", "f16_f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4"),
    "sm_89": ("e4m3", "e5m2"),
    "sm_90": ("f16", "tf32", "f64", "e4m3", "s8", "u4"),
    "sm_120": ("bf16", "e4m3", "e5m2", "s8"),
}


@dataclass(frozen=True)
class Gemm:
    """A kernel that multiplies matrices tile by tile.

    Attributes:
        types: of the elements.
        tile: M, N and K of the CTA's tile.
        warps: of the CTA.
        turned: whether memory holds the transposes of A and of B.
    """

    types: Types
    tile: tuple[int, int, int] = (64, 64, 64)
    warps: int = 4
    turned: tuple[bool, bool] = (False, False)

    @property
    def together(self) -> int:
        """Elements of a byte."""
        return 2 if self.types.tile == "i4" else 1

    @property
    def text(self) -> str:
        m, n, k = self.tile
        types = self.types
        operand = f"memref<?x?x{types.memory}, strided<[?, 1]>>"
        result = f"memref<?x?x{types.sum}, strided<[?, 1]>>"
        shapes = {"a": f"{m}x{k}x{types.tile}", "b": f"{k}x{n}x{types.tile}"}
        at = {"a": ["row", "k"], "b": ["k", "col"]}
        loads = ""
        for name, turned in zip("ab", self.turned, strict=True):
            first, second = reversed(at[name]) if turned else at[name]
            units = "masked, transposed" if turned else "masked"
            last = f"%{second}"
            if self.together > 1:
                loads += f"      %{name}at = arith.divui {last}, %together : index\n"
                last = f"%{name}at"
            loads += (
                f'      %t{name} = "tile.load"(%{name}, %{first}, {last}) {{{units}}}\n'
                f"          : ({operand}, index, index) -> tensor<{shapes[name]}>\n"
            )
        flags = "{unsigned_a, unsigned_b}" if types.unsigned else ""
        sums = f"tensor<{m}x{n}x{types.sum}>"
        return f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: {operand}, %b: {operand}, %c: {result}, %depth: index)
      kernel attributes {{known_block_size = array<i32: {32 * self.warps}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %together = arith.constant {self.together} : index
    %cm = arith.constant {m} : index
    %cn = arith.constant {n} : index
    %ck = arith.constant {k} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %cn : index
    %row = arith.muli %y, %cm : index
    %first = "tile.load"(%c, %row, %col) {{masked}} : ({result}, index, index) -> {sums}
    %last = scf.for %k = %c0 to %depth step %ck iter_args(%sum = %first) -> ({sums}) {{
{loads}
      %next = "tile.dot"(%ta, %tb, %sum) {flags}
          : (tensor<{shapes["a"]}>, tensor<{shapes["b"]}>, {sums}) -> {sums}
      scf.yield %next : {sums}
    }}
    "tile.store"(%last, %c, %row, %col) {{masked}} : ({sums}, {result}, index, index) -> ()
    gpu.return
  }}
}}
"""

    def arguments(self, random: Any, size: tuple[int, int, int]) -> tuple[list[Any], Any]:
        """Arguments for matrices of a size, and what C should be afterwards."""
        m, n, k = size
        low = 0 if self.types.unsigned else -3
        a, b, c = (random.integers(low, 4, shape) for shape in ((m, k), (k, n), (m, n)))
        wanted = (a @ b + c).astype(self.types.sum_dtype)
        held = []
        for matrix, turned in zip((a, b), self.turned, strict=True):
            stored = np.ascontiguousarray(matrix.T if turned else matrix).astype(self.types.dtype)
            held.append(self.packed(stored))
        return [*held, c.astype(self.types.sum_dtype), k], wanted

    def packed(self, matrix: Any) -> Any:
        """A matrix as memory holds it: two of 4 bits in a byte, the even one low."""
        if self.together == 1:
            return matrix.view(np.int8) if self.types.memory == "i8" else matrix
        codes = (matrix & 15).astype(np.uint8)
        return (codes[:, 0::2] | codes[:, 1::2] << 4).view(np.int8)

    def grid(self, size: tuple[int, int, int]) -> tuple[int, int]:
        """CTAs along N and M."""
        m, n, _ = size
        return -(-n // self.tile[1]), -(-m // self.tile[0])


@pytest.mark.parametrize(
    ("target", "name"), [(target, name) for target, names in TARGETS.items() for name in names]
)
def test_every_type_and_target(run, random, target, name) -> None:
    gemm = Gemm(TYPES[name], turned=(False, True))
    size = (64, 64, 128)
    arguments, wanted = gemm.arguments(random, size)
    run(gemm.text, arguments, grid=gemm.grid(size), target=target)
    np.testing.assert_array_equal(arguments[2], wanted)


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("name", ["f16", "tf32", "f64", "s8", "s4"])
def test_either_order_in_memory(run, random, name, turned) -> None:
    gemm = Gemm(TYPES[name], (32, 64, 64), 2, turned)
    size = (32, 64, 64)
    arguments, wanted = gemm.arguments(random, size)
    run(gemm.text, arguments, grid=gemm.grid(size))
    np.testing.assert_array_equal(arguments[2], wanted)


@pytest.mark.parametrize("size", [(0, 5, 7), (1, 1, 1), (37, 53, 0), (37, 53, 29), (96, 16, 80)])
def test_ragged_sizes(run, random, size) -> None:
    gemm = Gemm(F16, (32, 32, 32), 4)
    arguments, wanted = gemm.arguments(random, size)
    run(gemm.text, arguments, grid=tuple(max(1, n) for n in gemm.grid(size)))
    np.testing.assert_array_equal(arguments[2], wanted)


@pytest.mark.parametrize("tile", [(16, 8, 16), (16, 128, 16), (128, 8, 32), (256, 16, 16)])
@pytest.mark.parametrize("warps", [1, 8])
def test_tiles_with_too_few_rows_or_columns(run, random, tile, warps) -> None:
    """Warps that find nothing to do hold copies, of which one is stored."""
    gemm = Gemm(F16, tile, warps)
    size = (tile[0] + 3, tile[1], 2 * tile[2])
    arguments, wanted = gemm.arguments(random, size)
    run(gemm.text, arguments, grid=gemm.grid(size))
    np.testing.assert_array_equal(arguments[2], wanted)


@pytest.mark.parametrize("warps", ["4, 1", "2, 2", "1, 4"])
def test_pinned_grids(run, random, warps) -> None:
    gemm = Gemm(F16)
    text = gemm.text.replace(
        '"tile.dot"(%ta, %tb, %sum) ', f'"tile.dot"(%ta, %tb, %sum) {{warps = array<i64: {warps}>}}'
    )
    size = (64, 64, 64)
    arguments, wanted = gemm.arguments(random, size)
    run(text, arguments)
    np.testing.assert_array_equal(arguments[2], wanted)


@pytest.mark.parametrize(
    ("target", "name", "tile", "message"),
    [
        (
            "sm_75",
            "bf16",
            (64, 64, 64),
            r"no instruction of sm_75 multiplies bf16 by bf16 .* legal: f16 by f16 to f16",
        ),
        ("sm_80", "e4m3", (64, 64, 64), r"no instruction of sm_80 multiplies f8E4M3FN"),
        (
            "sm_80",
            "f16",
            (8, 64, 64),
            r"8x64x64 .* let each extent be a multiple .* m16n8k16, m16n8k8|m16n8k8, m16n8k16",
        ),
        ("sm_80", "s8", (64, 64, 8), r"64x64x8 .* m8n8k16"),
    ],
)
def test_refusals(target, name, tile, message) -> None:
    gemm = Gemm(TYPES[name], tile)
    with pytest.raises(ProgramError) as refused:
        _ = tilec.compile(gemm.text, target=target).ptx
    (found,) = refused.value.diagnostics
    assert re.search(message, found.message)
    assert "tile.dot" in found.message
