"""Which values of a program on tiles without layouts must have one layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.tiles import PlainTile, bits_of, plain_tile
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..base import Diagnostic, PassError, walk

FREE = frozenset({"arith.constant", "tile.fill", "tile.iota"})
"""Ops whose result can be had in any layout, in another for each use."""
VIEWS = frozenset(
    {"tile.broadcast", "tile.expand", "tile.reduce", "tile.reshape", "tile.transpose"}
)
"""Ops whose result's layout follows from that of their operand, or the other way round."""
MEMORY = frozenset({"tile.atomic", "tile.load", "tile.store"})
"""Ops that move a tile from or to memory, under any layout."""
_OWN = frozenset({*FREE, *VIEWS, *MEMORY, *DOTS, "tile.convert_layout"})
_KNOWN = _OWN | {"scf.condition", "scf.yield"}


def plain(value: Any) -> PlainTile | None:
    """The tile without a layout that `value` is, or None."""
    return plain_tile(value.type)


def has_plain_tiles(function: Any) -> bool:
    """Whether a function takes a tile without a layout, or an op of it gives one."""
    arguments = function.regions[0].blocks[0].arguments
    return any(map(has_no_layout, arguments)) or any(
        has_no_layout(result) for op in walk(function) for result in op.results
    )


def has_no_layout(value: Any) -> bool:
    """Whether `value` is a tensor without a layout, be it a tile or not."""
    return isinstance(value.type, ir.RankedTensorType) and value.type.encoding is None


def is_free(value: Any) -> bool:
    """Whether a tile can be had anew in any layout, and has several uses that may differ."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name not in FREE:
        return False
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is not None


def is_soft(op: Any) -> bool:
    """Whether an op is a cast from or to elements of less than a byte.

    Their layouts in memory are few, so such a cast may stand before or behind a conversion.
    """
    if not op.operation.name.startswith("arith.") or len(op.operands) != 1:
        return False
    source, result = plain(op.operands[0]), plain(op.results[0])
    if source is None or result is None:
        return False
    narrow = [bits_of(tile.element) < 8 for tile in (source, result)]
    return narrow[0] != narrow[1]


def is_elementwise(op: Any) -> bool:
    """Whether an op of upstream's works on tiles element by element."""
    name = op.operation.name
    return name.startswith(("arith.", "math.")) and name not in FREE


def joined(op: Any) -> Iterator[list[Any]]:
    """The groups of values that an op takes, gives and hands on in one layout."""
    name = op.operation.name
    if is_elementwise(op):
        if not is_soft(op):
            yield [*op.operands, *op.results]
    elif name in DOTS:
        yield [op.operands[2], op.results[0]]
    elif name == "scf.for":
        body = op.regions[0].blocks[0]
        inner = zip(list(body.arguments)[1:], _last(body).operands, strict=True)
        outer = zip(list(op.operation.operands)[3:], op.results, strict=True)
        yield from ([*a, *b] for a, b in zip(inner, outer, strict=True))
    elif name == "scf.if":
        blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
        ends = [list(_last(block).operands) for block in blocks]
        yield from ([*group] for group in zip(op.results, *ends, strict=True))
    elif name == "scf.while":
        before, after = (region.blocks[0] for region in op.regions)
        first = zip(
            op.operation.operands, before.arguments, list(_last(after).operands), strict=True
        )
        passed = list(_last(before).operands)[1:]
        yield from ([*group] for group in first)
        yield from ([*group] for group in zip(passed, after.arguments, op.results, strict=True))


def _last(block: Any) -> Any:
    return block.operations[len(block.operations) - 1].operation


class Classes:
    """The classes of a function's plain tiles: joined by elementwise ops and control flow.

    Constants and the like join nothing where they are used more than once.

    Args:
        function: a `gpu.func`.

    Raises:
        PassError: for ops that take or give such tiles and are not known.
    """

    def __init__(self, function: Any) -> None:
        self.ops: list[Any] = []
        """Ops that touch a plain tile, in program order."""
        self._parents: dict[Any, Any] = {}
        self._members: dict[Any, list[Any]] = {}
        errors: list[Diagnostic] = []
        for argument in function.regions[0].blocks[0].arguments:
            if has_no_layout(argument):
                message = (
                    f"'gpu.func' op cannot take an argument of type {argument.type}; "
                    "legal: memrefs in global memory, and scalars"
                )
                errors.append(Diagnostic(function.location, message))
        for op in walk(function):
            try:
                self._enter(op)
            except TilecError as error:
                errors.append(Diagnostic(op.location, f"'{op.operation.name}' op {error}"))
        for value in self._parents:
            self._members.setdefault(self.of(value), []).append(value)
        if errors:
            raise PassError(errors)

    def of(self, value: Any) -> Any:
        """The value that stands for the class of `value`."""
        parents = self._parents
        while parents[value] != value:
            parents[value] = parents[parents[value]]
            value = parents[value]
        return value

    def knows(self, value: Any) -> bool:
        """Whether `value` is in a class."""
        return value in self._parents

    def all(self) -> Iterable[Any]:
        """The values that stand for classes, in program order."""
        return self._members

    def members(self, root: Any) -> list[Any]:
        """The values of a class."""
        return self._members[root]

    def _enter(self, op: Any) -> None:
        tiles = [v for v in (*op.operation.operands, *op.results) if plain(v) is not None]
        arguments = [a for region in op.regions for block in region for a in block.arguments]
        tiles += [a for a in arguments if plain(a) is not None]
        if not tiles:
            return
        groups = list(joined(op))
        if not groups and op.operation.name not in _KNOWN and not is_soft(op):
            raise TilecError(
                "takes no tiles without layouts; legal: arith and math ops, scf.for, scf.if, "
                f"scf.while, {', '.join(sorted(_OWN))}"
            )
        self.ops.append(op)
        for value in tiles:
            self._add(value)
        for group in groups:
            first, *rest = [v for v in group if self._add(v)] or [None]
            for value in rest:
                self._parents[self.of(value)] = self.of(first)

    def _add(self, value: Any) -> bool:
        """Enter a tile, if it is one whose layout must be chosen once; whether it is."""
        if value not in self._parents:
            if plain(value) is None or is_free(value):
                return False
            self._parents[value] = value
        return True
