"""The GEMMs of `gemm_kernel.py` at level 1: tiles without a layout, a lane or a buffer."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.tiles import element_name
from tilec.isa import form as find_form

from .gemm_kernel import Configuration, Gemm


class _Codes(NamedTuple):
    """What a sparse A adds to the program, and what it changes.

    Attributes:
        argument: of the kernel.
        load: of a tile of them.
        along_a: where along K, as A is stored, its tile begins.
        product: the op.
    """

    argument: str = ""
    load: str = ""
    along_a: str = "%k"
    product: str = '"tile.dot"(%ta, %tb, %sum) : (!A, !B, !C) -> !C'

    @classmethod
    def of(cls, kind: Gemm, how: Configuration) -> _Codes:
        """Those of a kind; two codes a byte, each of four elements of a row."""
        if not kind.sparse:
            return cls()
        rows, _, deep = how.tile
        codes, array = f"tensor<{rows}x{deep // 4}xi4>", "memref<?x?xi8, strided<[?, 1]>>"
        promise = f"{{tile.aligned = 16 : i64, tile.strides = array<i64: {deep // 8}, 1>}}"
        return cls(
            f",\n                 %e: {array} {promise}",
            f"""      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %half = arith.divui %k, %c2 : index
      %byte = arith.divui %k, %c8 : index
      %te = "tile.load"(%e, %row, %byte) : ({array}, index, index) -> {codes}
""",
            "%half",
            f'"tile.dot_sp"(%ta, %tb, %sum, %te) : (!A, !B, !C, {codes}) -> !C',
        )


def tile_gemm(kind: Gemm, how: Configuration) -> str:
    """The program; what it takes is as for `gemm_kernel.gemm`; of the grid, x counts columns.

    It promises what a user would of whole matrices: rows of multiples of 16 bytes. Of the
    configuration the grid of warps and the swizzle are the passes' choice.
    """
    rows, cols, deep = how.tile
    stored = deep // 2 if kind.sparse else deep
    element = element_name(find_form(kind.form).operand("a"))
    zero = "0" if kind.sum == "i32" else "0.0"
    a_row, d_row = 16 // kind.bytes, 8 if kind.out in ("f16", "bf16") else 4
    pinned = ", tile.pingpong = true" if how.pingpong else ""
    at_b, transposed = ("%col, %k", " {transposed}") if kind.n_by_k else ("%k, %col", "")
    out, narrowed = "%total", ""
    if kind.out != kind.sum:
        out = "%narrow"
        narrowed = "    %narrow = arith.truncf %total : !C to !D\n"
    codes = _Codes.of(kind, how)
    return f"""
!A = tensor<{rows}x{stored}x{element}>
!B = tensor<{deep}x{cols}x{element}>
!C = tensor<{rows}x{cols}x{kind.sum}>
!D = tensor<{rows}x{cols}x{kind.out}>
!Input = memref<?x?x{kind.element}, strided<[?, 1]>>
!Result = memref<?x?x{kind.out}, strided<[?, 1]>>

gpu.module @gemm [#nvvm.target<chip = "sm_80">] {{
  gpu.func @gemm(%a: !Input {{tile.aligned = 16 : i64, tile.strides = array<i64: {a_row}, 1>}},
                 %b: !Input {{tile.aligned = 16 : i64, tile.strides = array<i64: {a_row}, 1>}},
                 %d: !Result {{llvm.noalias, tile.aligned = 16 : i64,
                              tile.sizes = array<i64: 1, {d_row}>,
                              tile.strides = array<i64: {d_row}, 1>}}{codes.argument})
      kernel attributes {{known_block_size = array<i32: {how.threads}, 1, 1>,
                          tile.rasterize = {how.group} : i64{pinned}}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant {rows} : index
    %cols = arith.constant {cols} : index
    %deep = arith.constant {deep} : index
    %depth = memref.dim %b, {"%c1" if kind.n_by_k else "%c0"} : !Input
    %x = gpu.block_id x
    %y = gpu.block_id y
    %row = arith.muli %y, %rows : index
    %col = arith.muli %x, %cols : index

    %zero = arith.constant dense<{zero}> : !C
    %total = scf.for %k = %c0 to %depth step %deep iter_args(%sum = %zero) -> (!C) {{
{codes.load}      %ta = "tile.load"(%a, %row, {codes.along_a}) : (!Input, index, index) -> !A
      %tb = "tile.load"(%b, {at_b}){transposed} : (!Input, index, index) -> !B
      %next = {codes.product}
      scf.yield %next : !C
    }} {{tile.stages = {how.stages} : i64}}
{narrowed}    "tile.store"({out}, %d, %row, %col) : (!D, !Result, index, index) -> ()
    gpu.return
  }}
}}
"""
