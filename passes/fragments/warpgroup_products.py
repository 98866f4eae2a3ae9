"""Products of tiles as the instructions of warpgroups."""

from __future__ import annotations

from itertools import product as cross
from typing import NamedTuple

from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import (
    JoinWarpsOp,
    WarpgroupDotOp,
    WarpgroupDotSpOp,
    WarpgroupIdOp,
    WarpgroupStartOp,
    WarpgroupWaitOp,
    WarpPartOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaOp,
    WgmmaSpOp,
    WgmmaWaitOp,
)
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct, WarpgroupProduct
from tilec.dialects.tile.ops.wgmma import PassingOp
from tilec.dialects.tile.tiles import TileValue, frag_type, tile_value
from tilec.ir.aliases import Attribute, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import i1, memref_of
from tilec.isa import WARPGROUP_WARPS
from tilec.layout.extents import unit_counts, unit_extents

from ..emit import add, add_constant, index_constant
from ..thread_index import ThreadIndex
from .expansion import Expansion, Handler, Values, lowers
from .fragment_types import FragmentTypes
from .parts import cut, join
from .warpgroup_fragments import warp_unit


class WarpgroupProducts:
    """`tile.warpgroup_dot`s and their kin of one kernel."""

    def __init__(self, types: FragmentTypes, thread: ThreadIndex) -> None:
        self._types = types
        self._thread = thread
        self._group: Value | None = None

    def handlers(self) -> dict[str, Handler]:
        """By op name."""
        return dict(
            [
                lowers(WarpgroupDotOp, self._dot),
                lowers(WarpgroupDotSpOp, self._dot),
                lowers(WarpgroupStartOp, self._start),
                lowers(WarpgroupWaitOp, self._wait),
            ]
        )

    def _dot(self, op: AwaitedProduct, expansion: Expansion) -> list[Values]:
        """A product, and the wait for it."""
        return [self._awaited(op, self._begun(op, expansion), 0)]

    def _start(self, op: WarpgroupStartOp, expansion: Expansion) -> list[Values]:
        """A product in flight: the warpgroup's accumulators, which the wait takes."""
        op.check_uses()
        return [self._begun(op, expansion)]

    def _wait(self, op: WarpgroupWaitOp, expansion: Expansion) -> list[Values]:
        op.check_pending()
        pending = ir.IntegerAttr(op.attributes["pending"]).value
        return [self._awaited(op.product, expansion.values(op.started), pending)]

    def _begun(self, op: WarpgroupProduct, expansion: Expansion) -> Values:
        """Fence, an instruction for each block of C and step along K, commit."""
        values = op.tile_values()
        held: dict[str, Values] = {}
        for name in ("a", "e", "c"):
            if name in values:
                joined = self._joined(op, name, expansion.values(values[name]))
                held[name] = _passed(WgmmaFenceOp, joined)
        after = self._instructions(op, held)
        emit_effect(WgmmaCommitOp)
        return after

    def _awaited(self, op: WarpgroupProduct, begun: Values, pending: int) -> Values:
        """The warps' fragments of what a product gives, at most `pending` later ones in flight."""
        done = _passed(WgmmaWaitOp, begun, pending=i64(pending))
        return self._parted(op, done, self._types.of(op.d.type) or [])

    def _instructions(self, op: WarpgroupProduct, held: dict[str, Values]) -> Values:
        """The accumulators, all products in flight."""
        blocks = _Blocks.of(op)
        memory = {
            name: _Matrix(op, name, self._first(op, name)) for name in "ab" if name not in held
        }
        sums = list(held["c"])
        true = arith.integer(i1(), 1)
        kept = {name: op.attributes[name] for name in op.attributes if name != "warps"}
        served = _served(op)
        for k, (m, n) in cross(range(blocks.k), cross(range(blocks.m), range(blocks.n))):
            at = m * blocks.n + n
            a = held["a"][m * blocks.k + k] if "a" in held else op.a
            indices: Values = []
            for name, number in (("a", m), ("b", n)):
                if name in memory:
                    indices += memory[name].indices(number, k)
            operands = [a, op.b, sums[at], true]
            if served:
                part, selector = divmod(k, served)
                codes = held["e"][m * (blocks.k // served) + part]
                chosen = {**kept, "selector": i64(selector)}
                made = emit(WgmmaSpOp, [*operands, codes, *indices], sums[at].type, **chosen)
            else:
                made = emit(WgmmaOp, [*operands, *indices], sums[at].type, **kept)
            sums[at] = made
        return sums

    def _first(self, op: WarpgroupProduct, name: str) -> Value:
        """Where in M of A, or in N of B, the part of this warpgroup begins: of each unit's."""
        along_m, along_n = op.grid
        groups = along_m // WARPGROUP_WARPS
        if (groups if name == "a" else along_n) == 1:
            return index_constant(0)
        group = self._warpgroup()
        if name == "a":
            number = arith.remui(group, index_constant(groups)) if along_n > 1 else group
            return arith.muli(number, index_constant(op.key.operand("a").rows))
        number = arith.divui(group, index_constant(groups)) if groups > 1 else group
        _, cols = unit_extents(ir.RankedTensorType(op.d.type).shape)
        return arith.muli(number, index_constant(cols // along_n))

    def _warpgroup(self) -> Value:
        """The number of the warpgroup, computed once, where all its threads come."""
        if self._group is None:
            with self._thread.at_top(), ir.Location.unknown():
                self._group = emit(WarpgroupIdOp, [], ir.IndexType.get())
        return self._group

    def _joined(self, op: WarpgroupProduct, name: str, values: Values) -> Values:
        """The fragments of the warpgroup that warps' fragments of an operand are parts of.

        Those of M first, of each its columns in order.
        """
        from tilec.dialects.tile.builders.wgmma import (  # noqa: PLC0415 (for such products only)
            warpgroup_type,
        )

        whole, part = warpgroup_type(op.key, name), _part(op, name, self._tile(op, name))
        values = _Runs.of(op, self._tile(op, name)).by_rows(values)
        size = len(values) // self._parts(op, name)
        parts = [join(values[at : at + size], part) for at in range(0, len(values), size)]
        each = _parts_of_one(op, name)
        return [
            emit(JoinWarpsOp, parts[at : at + each], whole) for at in range(0, len(parts), each)
        ]

    def _parted(self, op: WarpgroupProduct, done: Values, types: list[Type]) -> Values:
        """The warps' fragments of the results."""
        tile = self._tile(op, "d")
        part = _part(op, "d", tile)
        size = len(types) // self._parts(op, "d")
        columns = warp_unit(op.key, "d").out_sizes["col"]
        pieces = [
            piece
            for one in done
            for number in range(_parts_of_one(op, "d"))
            for piece in cut(
                emit(WarpPartOp, [one], part, column=i64(number * columns)), size, types[0]
            )
        ]
        return _Runs.of(op, tile).by_units(pieces)

    def _parts(self, op: WarpgroupProduct, name: str) -> int:
        """Parts, of all of a warp's rows, of an operand that a warp holds."""
        unit = warp_unit(op.key, name)
        return self._tile(op, name).registers // unit.in_size("register")

    def _tile(self, op: WarpgroupProduct, name: str) -> TileValue:
        value = op.d if name == "d" else op.tile_values()[name]
        tile = tile_value(value.type)
        assert tile is not None
        return tile


class _Blocks(NamedTuple):
    """Instructions of a warpgroup along M, N and K."""

    m: int
    n: int
    k: int

    @classmethod
    def of(cls, op: WarpgroupProduct) -> _Blocks:
        form, (rows, cols) = op.key, ir.RankedTensorType(op.d.type).shape
        along_m, along_n = op.grid
        shape = form.operand("d")
        m = rows // (along_m // WARPGROUP_WARPS) // shape.rows
        return cls(m, cols // along_n // shape.cols, op.depth() // form.operand("b").rows)


class _Matrix:
    """An operand in shared memory.

    Args:
        op: the product.
        name: `a` or `b`.
        first: where in M or N the warpgroup's part begins.
    """

    def __init__(self, op: WarpgroupProduct, name: str, first: Value) -> None:
        operand = op.key.operand(name)
        self._begin = op.indices_of(name)
        self._transposed = op.is_transposed(name)
        self._width = memref_of(op.a if name == "a" else op.b).shape[-1]
        self._first = first
        if name == "a":
            self._further, self._depth = (
                operand.rows * (op.grid[0] // WARPGROUP_WARPS),
                operand.cols,
            )
            self._each, self._apart = 1, self._further
        else:
            self._further, self._depth = operand.cols, operand.rows
            self._each, self._apart = _columns_of_units(op)

    def indices(self, number: int, k: int) -> Values:
        """Where the operand of instruction `number` along M or N, and `k` along K, begins."""
        *leading, row, col = self._begin
        unit, inner = divmod(number, self._each)
        other = add_constant(self._first, unit * self._apart + inner * self._further)
        depth = k * self._depth
        if self._transposed:
            row = add_constant(row, depth)
            panel, inside = self._split(other)
        else:
            row = add(row, other)
            panel = index_constant(depth // self._width)
            inside = index_constant(depth % self._width)
        if leading:
            leading[-1] = add(leading[-1], panel)
        return [*leading, row, add(col, inside)]

    def _split(self, index: Value) -> tuple[Value, Value]:
        """The panel that an index lies in, and its place in that."""
        width = index_constant(self._width)
        return arith.divui(index, width), arith.remui(index, width)


def _columns_of_units(op: WarpgroupProduct) -> tuple[int, int]:
    """Instructions along N in what a warpgroup has side by side, and how far such lie apart.

    A warpgroup that shares N has a part of each unit.
    """
    cols, (_, along_n) = ir.RankedTensorType(op.d.type).shape[1], op.grid
    apart = cols if along_n == 1 else unit_extents((cols,))[0]
    return apart // along_n // op.key.operand("d").cols, apart


def _part(op: WarpgroupProduct, name: str, tile: TileValue) -> Type:
    """The type of a warp's part of one fragment of the warpgroup."""
    unit = warp_unit(op.key, name)
    return frag_type(tuple(unit.out_sizes.values()), tile.element, unit)


def _served(op: WarpgroupProduct) -> int:
    """Instructions along K that one register of metadata serves; none of a dense product."""
    if op.key.sparsity is None:
        return 0
    return warp_unit(op.key, "e").out_sizes["col"] // op.key.operand("e").cols


def _parts_of_one(op: WarpgroupProduct, name: str) -> int:
    """Adjacent parts of one fragment of the warpgroup; several where N is not a power of two."""
    if name == "e":
        return 1
    return op.key.operand(name).cols // warp_unit(op.key, name).out_sizes["col"]


class _Runs(NamedTuple):
    """What a warp holds of a tile: units along rows and columns, in each one run for each of its M.

    Attributes:
        rows, cols: units of the tile.
        own: fragments along M of each, of this warpgroup.
    """

    rows: int
    cols: int
    own: int

    @classmethod
    def of(cls, op: WarpgroupProduct, tile: TileValue) -> _Runs:
        """Those of an operand or the result."""
        rows, cols = unit_counts(tile.shape)
        groups = op.grid[0] // WARPGROUP_WARPS
        fragment = op.key.operand("d").rows
        return cls(rows, cols, tile.layout.out_sizes["row"] // groups // fragment)

    def by_rows(self, values: Values) -> Values:
        """Fragments in the order of units, as those of each row one after the other."""
        return _turned(values, self.rows, self.cols, self.own)

    def by_units(self, values: Values) -> Values:
        """The inverse."""
        return _turned(values, self.rows, self.own, self.cols)


def _turned(values: Values, outer: int, one: int, other: int) -> Values:
    """Runs of values, of which the two inner numbers change places."""
    size = len(values) // (outer * one * other)
    return [
        values[((at * one + first) * other + second) * size + inner]
        for at in range(outer)
        for second in range(other)
        for first in range(one)
        for inner in range(size)
    ]


def _passed(kind: type[PassingOp], values: Values, **attributes: Attribute) -> Values:
    """An op that gives fragments back as it takes them."""
    types = [value.type for value in values]
    made = ir.Operation.create(kind.OPERATION_NAME, types, values, attributes)
    return list(made.results)
