"""GEMMs by `mma.sync` at level 2, for any element type and configuration.

The pipeline is that of `examples/gemm.py`: `cp.async` into several buffers, one barrier a slice.
Here A and B may be of 8, 16 or 32 bits, B may lie as N×K, sums are narrowed before they are stored,
and CTAs may go over C in groups of rows, so that those which run together share operands in L2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tilec.dialects.tile import builders as tile
from tilec.dialects.tile.builders.types import retyped
from tilec.dialects.tile.tiles import element_name
from tilec.ir.mlir import dialect, ir
from tilec.isa import form as find_form


@dataclass(frozen=True)
class Configuration:
    """What may be chosen of a GEMM.

    Attributes:
        tile: of a CTA: M, N and K.
        warps: of a CTA, along M and N.
        stages: buffers of the pipeline, two or more.
        group: rows of tiles that are gone over together; 1 for row by row.
        swizzle: largest number of 16-byte pieces that are permuted in a row of shared memory, as a
            power of two: 3 for eight, 0 for none.
        pingpong: whether two warpgroups take tiles in turn, where tiles have no layout yet.
    """

    tile: tuple[int, int, int]
    warps: tuple[int, int]
    stages: int
    group: int = 8
    swizzle: int = 3
    pingpong: bool = False

    @property
    def name(self) -> str:
        """As `128x128x64 w4x2 s3 g8`; behind it `z` and a swizzle that is not whole, `pp`."""
        tile_, warps = ("x".join(map(str, sizes)) for sizes in (self.tile, self.warps))
        rest = "" if self.swizzle == 3 else f" z{self.swizzle}"
        rest += " pp" if self.pingpong else ""
        return f"{tile_} w{warps} s{self.stages} g{self.group}{rest}"

    @classmethod
    def of(cls, name: str) -> Configuration:
        """The configuration that has a name."""
        tile_, *rest = name.split()
        parts = {word[0]: word[1:] for word in rest}
        m, n, k = map(int, tile_.split("x"))
        rows, cols = map(int, parts["w"].split("x"))
        swizzle, pingpong = int(parts.get("z", 3)), "p" in parts
        return cls((m, n, k), (rows, cols), int(parts["s"]), int(parts["g"]), swizzle, pingpong)

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return 32 * self.warps[0] * self.warps[1]


@dataclass(frozen=True)
class Gemm:
    """D = A·B of one kind.

    Attributes:
        name: such as `f16`.
        form: the instruction.
        out: MLIR's element type of D; of a float, the sums are rounded to it.
        n_by_k: whether B is N×K, else K×N, which only 16-bit elements may be.
        tolerance: error of an element, over the root of the sum of the squares of its products.
    """

    name: str
    form: str
    out: str
    n_by_k: bool
    tolerance: float

    @property
    def sparse(self) -> bool:
        """Whether A is stored sparse, two of four."""
        return self.form.startswith("mma.sp")

    @property
    def element(self) -> str:
        """MLIR's element type of A and B in memory."""
        name = element_name(find_form(self.form).operand("a"))
        return "f32" if name == "tf32" else name

    @property
    def sum(self) -> str:
        """MLIR's element type of the sums."""
        return element_name(find_form(self.form).operand("c"))

    @property
    def bytes(self) -> int:
        """Of an element of A and B."""
        return find_form(self.form).operand("a").container // 8


def gemm(kind: Gemm, how: Configuration, name: str = "gemm") -> Any:
    """The module. A is MxK, D is MxN; extents are multiples of the tile.

    A sparse A is MxK/2, as stored, and the metadata follow D: MxK/8 bytes, of two codes each.

    The grid is one-dimensional: a CTA for each tile of D. Rows of tiles must be a multiple of
    `how.group`.
    """
    rows, cols, deep = how.tile
    form, element = kind.form, kind.element
    step, kept = find_form(form).operand("a").cols, 2 if kind.sparse else 1
    inputs = f"memref<?x?x{element}, strided<[?, 1]>>"
    result = f"memref<?x?x{kind.out}, strided<[?, 1]>>"
    arguments = {"a": inputs, "b": inputs, "d": result}
    if kind.sparse:
        arguments["e"] = "memref<?x?xi8, strided<[?, 1]>>"
    arith, gpu, memref, scf = map(dialect, ("arith", "gpu", "memref", "scf"))
    with (
        tile.module(name, target="sm_80") as module,
        tile.kernel(name, arguments, block=how.threads) as (a, b, d, *e),
    ):
        tile_a = tile.operand_tensor(form, "a", rows, step, warps=how.warps)
        tile_b = tile.operand_tensor(form, "b", step * kept, cols, warps=how.warps)
        tile_c = tile.operand_tensor(form, "c", rows, cols, warps=how.warps)
        depth = memref.dim(b, tile.index(1 if kind.n_by_k else 0))
        count = arith.divui(memref.dim(d, tile.index(1)), tile.index(cols))
        row, col = _corner(arith, gpu.block_id("x"), count, how)

        shape_b = (cols, deep) if kind.n_by_k else (deep, cols)
        sa = _shared(how, (rows, deep // kept), kind)
        sb = _shared(how, shape_b, kind)
        if kind.sparse:
            tile_e = tile.operand_tensor(form, "e", rows, step * kept // 4, warps=how.warps)
            se = tile.alloc_shared((how.stages, rows, deep // 8), "i8")

        def copy(k: Any, stage: Any) -> None:
            at_b = (col, k) if kind.n_by_k else (k, col)
            vector = 16 // kind.bytes
            at_a = arith.divui(_value(k), tile.index(kept))
            tile.async_copy(a, (row, at_a), sa, (stage, 0, 0), vector=vector)
            tile.async_copy(b, at_b, sb, (stage, 0, 0), vector=vector)
            if kind.sparse:
                at_e = arith.divui(_value(k), tile.index(8))
                tile.async_copy(e[0], (row, at_e), se, (stage, 0, 0), vector=min(16, deep // 8))

        def copy_if_any(k: Any, stage: Any) -> None:
            there = arith.cmpi(arith.CmpIPredicate.ult, k, depth)
            with ir.InsertionPoint(scf.IfOp(there).then_block):
                copy(k, stage)
                scf.yield_([])
            tile.async_commit()

        copy(0, 0)
        tile.async_commit()
        for stage in range(1, how.stages - 1):
            copy_if_any(tile.index(stage * deep), stage)

        zero = tile.fill(0 if kind.sum == "i32" else 0.0, tile_c)
        start = [zero, tile.index(0), tile.index(how.stages - 1)]
        for k, (total, read, write), results in scf.for_(0, depth, deep, iter_args=start):  # noqa: B007
            tile.async_wait(how.stages - 2)
            gpu.barrier()
            copy_if_any(arith.addi(k, tile.index((how.stages - 1) * deep)), write)
            partial = total
            for kk in range(0, deep, step * kept):
                at_b = (0, kk) if kind.n_by_k else (kk, 0)
                fa = tile.load(sa, read, 0, kk // kept, type=tile_a)
                fb = tile.load(sb, read, *at_b, type=tile_b, transposed=kind.n_by_k)
                if kind.sparse:
                    fe = tile.load(se, read, 0, kk // 8, type=tile_e)
                    partial = tile.dot_sp(form, fa, fb, partial, fe)
                else:
                    partial = tile.dot(form, fa, fb, partial)
            following = arith.addi(read, tile.index(1))
            wraps = arith.cmpi(arith.CmpIPredicate.eq, following, tile.index(how.stages))
            following = arith.select(wraps, tile.index(0), following)
            scf.yield_([partial, following, read])

        total = results[0]
        if kind.out != kind.sum:
            total = arith.truncf(retyped(total, element=kind.out), total)
        tile.store(total, d, row, col, vector=2)
    return module


def _corner(arith: Any, number: Any, across: Any, how: Configuration) -> tuple[Any, Any]:
    """Row and column where a CTA's tile begins: column by column in every group of rows."""
    rows, cols, _ = how.tile
    size = arith.muli(across, tile.index(how.group))
    group, within = arith.divui(number, size), arith.remui(number, size)
    first = arith.muli(group, tile.index(how.group))
    row = arith.addi(first, arith.remui(within, tile.index(how.group)))
    col = arith.divui(within, tile.index(how.group))
    return arith.muli(row, tile.index(rows)), arith.muli(col, tile.index(cols))


def _shared(how: Configuration, shape: Sequence[int], kind: Gemm) -> Any:
    """Buffers, swizzled so that 16-byte pieces above each other in eight rows differ in banks."""
    pieces = (shape[-1] * kind.bytes // 16).bit_length() - 1
    bits = min(pieces, how.swizzle)
    swizzle = f"swizzle<{bits},4,{max(pieces, 3)}>" if bits else "none"
    return tile.alloc_shared((how.stages, *shape), kind.element, swizzle)


def _value(k: Any) -> Any:
    """An index, of a number too."""
    return tile.index(k) if isinstance(k, int) else k
