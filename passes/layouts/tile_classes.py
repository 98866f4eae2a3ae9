"""Which values of a program on tiles without layouts must have one layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tilec.dialects.semantics import LayoutRule, carried_values, layout_rule
from tilec.dialects.semantics import is_free as can_be_free
from tilec.dialects.tile import ops
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.tiles import PlainTile, bits_of, plain_tile
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..base import walk
from ..report import Report

_LEGAL_RULES = frozenset(
    {
        LayoutRule.FREE,
        LayoutRule.RELATED,
        LayoutRule.MOVED,
        LayoutRule.PRODUCT,
        LayoutRule.CONVERTED,
    }
)
"""Rules of the tile dialect's ops that an error names as legal."""


def plain(value: Value) -> PlainTile | None:
    """The tile without a layout that `value` is, or None."""
    return plain_tile(value.type)


def has_plain_tiles(function: Op) -> bool:
    """Whether a function takes a tile without a layout, or an op of it gives one."""
    arguments = function.regions[0].blocks[0].arguments
    return any(map(has_no_layout, arguments)) or any(
        has_no_layout(result) for op in walk(function) for result in op.results
    )


def has_no_layout(value: Value) -> bool:
    """Whether `value` is a tensor without a layout, be it a tile or not."""
    return isinstance(value.type, ir.RankedTensorType) and value.type.encoding is None


def has_tensor_type(value: Value) -> bool:
    """Whether `value` is a tensor, with a layout or without."""
    return isinstance(value.type, ir.RankedTensorType)


def is_free(value: Value) -> bool:
    """Whether a tile can be had anew in any layout, and has several uses that may differ."""
    if not can_be_free(value):
        return False
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is not None


def is_soft(op: ir.OpView) -> bool:
    """Whether an op is a cast from or to elements of less than a byte.

    Their layouts in memory are few, so such a cast may stand before or after a conversion.
    """
    if layout_rule(op) is not LayoutRule.JOINED or len(op.operands) != 1:
        return False
    source, result = plain(op.operands[0]), plain(op.results[0])
    if source is None or result is None:
        return False
    narrow = [bits_of(tile.element) < 8 for tile in (source, result)]
    return narrow[0] != narrow[1]


def is_elementwise(op: ir.OpView) -> bool:
    """Whether an op works on tiles element by element."""
    return layout_rule(op) is LayoutRule.JOINED


def is_product(op: ir.OpView) -> bool:
    """Whether an op is a product of tiles."""
    return layout_rule(op) is LayoutRule.PRODUCT


def is_related(op: ir.OpView) -> bool:
    """Whether the layouts of an op's operand and result follow from each other."""
    return layout_rule(op) is LayoutRule.RELATED or is_soft(op)


def joined(op: ir.OpView) -> Iterator[list[Value]]:
    """The groups of values that an op takes, gives and hands on in one layout."""
    match layout_rule(op):
        case LayoutRule.JOINED:
            if not is_soft(op):
                yield [*op.operands, *op.results]
        case LayoutRule.MOVED:
            tiles = [v for v in (*op.results, *op.operands) if has_tensor_type(v)]
            if len(tiles) > 1:
                yield tiles
        case LayoutRule.PRODUCT:
            yield [op.operands[2], op.results[0]]
        case LayoutRule.CARRIED:
            yield from map(list, carried_values(op))


def _legal() -> list[str]:
    """Names of the tile dialect's ops on tiles without layouts."""
    known = (getattr(ops, name) for name in ops.__all__)
    return sorted(
        op.OPERATION_NAME
        for op in known
        if isinstance(op, type) and issubclass(op, TileOp) and op.SEMANTICS.layouts in _LEGAL_RULES
    )


class Classes:
    """The classes of a function's plain tiles: joined by elementwise ops and control flow.

    Constants and the like join nothing where they are used more than once.

    Args:
        function: a `gpu.func`.

    Raises:
        PassError: for ops that take or give such tiles and are not known.
    """

    def __init__(self, function: Op) -> None:
        self.ops: list[ir.OpView] = []
        """Ops that touch a plain tile, in program order."""
        self._parents: dict[Value, Value] = {}
        self._members: dict[Value, list[Value]] = {}
        report = Report()
        for argument in function.regions[0].blocks[0].arguments:
            if has_no_layout(argument):
                report.error(
                    function,
                    f"cannot take an argument of type {argument.type}; legal: memrefs in global "
                    "memory, and scalars",
                )
        for op in walk(function):
            try:
                self._enter(op)
            except TilecError as error:
                report.error(op, str(error))
        for value in self._parents:
            self._members.setdefault(self.of(value), []).append(value)
        report.raise_errors()

    def of(self, value: Value) -> Value:
        """The value that stands for the class of `value`."""
        parents = self._parents
        while parents[value] != value:
            parents[value] = parents[parents[value]]
            value = parents[value]
        return value

    def knows(self, value: Value) -> bool:
        """Whether `value` is in a class."""
        return value in self._parents

    def all(self) -> Iterable[Value]:
        """The values that stand for classes, in program order."""
        return self._members

    def members(self, root: Value) -> list[Value]:
        """The values of a class."""
        return self._members[root]

    def _enter(self, op: ir.OpView) -> None:
        tiles = [v for v in (*op.operation.operands, *op.results) if plain(v) is not None]
        arguments = [a for region in op.regions for block in region for a in block.arguments]
        tiles += [a for a in arguments if plain(a) is not None]
        if not tiles:
            return
        if layout_rule(op) is LayoutRule.UNKNOWN:
            raise TilecError(
                "takes no tiles without layouts; legal: arith and math ops, scf.for, scf.if, "
                f"scf.while, arith.constant, {', '.join(_legal())}"
            )
        groups = list(joined(op))
        self.ops.append(op)
        for value in tiles:
            self._add(value)
        for group in groups:
            added = [value for value in group if self._add(value)]
            for value in added[1:]:
                self._parents[self.of(value)] = self.of(added[0])

    def _add(self, value: Value) -> bool:
        """Enter a tile, if it is one whose layout must be chosen once; whether it is."""
        if value not in self._parents:
            if plain(value) is None or is_free(value):
                return False
            self._parents[value] = value
        return True
