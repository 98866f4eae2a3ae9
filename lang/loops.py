"""Loops of a kernel: `scf.for` and `scf.while`, whose turns hand on what the next one reads."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tilec.dialects.tile.attributes import STAGES, UNROLL
from tilec.ir import mlir, ops
from tilec.isa import TilecError

from .casts import astype
from .dtypes import DType, bool_, intp
from .emit import emit, i64
from .errors import KernelError
from .liveness import assigned
from .program import Range
from .scope import Scope
from .tile import Tile
from .yielded import (
    Undefined,
    as_scalar,
    convert_to,
    have_same_form,
    is_number,
    is_same,
    leaves,
    rebuild,
)


class _RetypedError(Exception):
    """A number that the loop starts with is of another type at a turn's end."""

    def __init__(self, at: int, dtype: type[DType]) -> None:
        self.at = at
        self.dtype = dtype


class _LoopValues:
    """The names that a loop hands from turn to turn, and their values before it."""

    def __init__(self, scope: Scope, node: ast.For | ast.While) -> None:
        self._node = node
        self._scope = scope
        self.assigned = assigned(
            [*node.body, node.target if isinstance(node, ast.For) else node.test]
        )
        live = self.assigned & scope.source.liveness.entry(node)
        if isinstance(node, ast.For):
            live -= assigned([node.target])
        self.start = {
            name: scope.names[name]
            for name in _in_order(live, node)
            if name in scope.names and not isinstance(scope.names[name], Undefined)
        }
        self._numbers: dict[int, type[DType]] = {}

    def retype(self, error: _RetypedError) -> None:
        """Begin with a number as another type."""
        if error.at in self._numbers:
            raise TilecError("a number changes its type with every turn; cast it before the loop")
        self._numbers[error.at] = error.dtype

    def _leaves(self) -> list[Any]:
        return [leaf for value in self.start.values() for leaf in leaves(value)]

    def initial(self) -> list[Tile]:
        """The values before the first turn that the op takes."""
        return [
            as_scalar(leaf, self._numbers.get(at))
            for at, leaf in enumerate(self._leaves())
            if isinstance(leaf, Tile) or is_number(leaf)
        ]

    def bound(self, values: Sequence[Any], like: Sequence[Tile]) -> dict[str, Any]:
        """The names' values, of what the op hands on."""
        tiles = (Tile(v, t.dtype, t.shape) for v, t in zip(values, like, strict=True))
        return {
            name: rebuild(
                value,
                iter(
                    [
                        next(tiles) if isinstance(leaf, Tile) or is_number(leaf) else leaf
                        for leaf in leaves(value)
                    ]
                ),
            )
            for name, value in self.start.items()
        }

    def final(self, names: dict[str, Any], begun: list[Tile]) -> list[Tile]:
        """The values at the end of a turn that the op hands on.

        Raises:
            TilecError: for one that is not of the type that it was before.
            _RetypedError: for one that was a number before.
        """
        where = f"in the loop at line {self._node.lineno}"
        found: list[Tile] = []
        types = iter(begun)
        at = 0
        for name, value in self.start.items():
            end = names[name]
            if isinstance(end, Undefined):
                raise TilecError(end.reason)
            if not have_same_form(value, end):
                raise TilecError(f"'{name}' is {end!r} {where}, where it was {value!r}")
            for before, after in zip(leaves(value), leaves(end), strict=True):
                if isinstance(before, Tile) or is_number(before):
                    like = next(types)
                    self._check_number(at, before, after, like)
                    found.append(self._convert(after, like, name))
                elif not is_same(before, after):
                    raise TilecError(
                        f"'{name}' is {after!r} {where}, where it was {before!r}: only tiles and "
                        "numbers change from turn to turn"
                    )
                at += 1
        return found

    def _convert(self, value: Any, like: Tile, name: str) -> Tile:
        try:
            return convert_to(value, like, name, f"in the loop at line {self._node.lineno}")
        except TilecError as error:
            stores = (
                n
                for part in self._node.body
                for n in ast.walk(part)
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
            )
            last = max(stores, key=lambda n: (n.lineno, n.col_offset))
            raise KernelError(self._scope.place(last), str(error)) from None

    def _check_number(self, at: int, before: Any, after: Any, like: Tile) -> None:
        if not is_number(before):
            return
        if isinstance(after, float) and like.dtype.kind != "float":
            raise _RetypedError(at, as_scalar(after).dtype)
        if isinstance(after, Tile) and not after.shape and after.dtype is not like.dtype:
            raise _RetypedError(at, after.dtype)

    def assign(self, values: dict[str, Any]) -> None:
        """Give the names what they are behind the loop."""
        where = f"in the loop at line {self._node.lineno}"
        for name in self.assigned:
            self._scope.names[name] = Undefined(
                f"'{name}' gets its value {where}, which may have no turns: give it one before"
            )
        self._scope.names |= values


def _in_order(names: frozenset[str], node: ast.For | ast.While) -> list[str]:
    """Names in the order in which a loop first assigns them."""
    places: dict[str, tuple[int, int]] = {}
    for found in ast.walk(node):
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store):
            place = found.lineno, found.col_offset
            places[found.id] = min(place, places.get(found.id, place))
    return sorted(names, key=places.__getitem__)


def _whole(number: Any, name: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1 << 31:
        raise TilecError(f"{name} of a loop is a positive integer or None, not {number!r}")
    return number


def count(scope: Scope, node: ast.For, values: Range) -> None:
    """Run a loop over a range.

    Raises:
        TilecError: for bounds that are no integers, or values that change their type.
    """
    bounds = [_bound(b, what) for b, what in ((values.start, "start"), (values.stop, "stop"))]
    if isinstance(values.step, int) and values.step < 1:
        raise TilecError(f"a loop of the kernel counts up: its step is positive, not {values.step}")
    step = _bound(values.step, "step")
    attributes = {
        attribute: i64(_whole(number, name))
        for attribute, name, number in (
            (STAGES, "stages", values.stages),
            (UNROLL, "unroll", values.unroll),
        )
        if number is not None
    }
    loop_values = _LoopValues(scope, node)
    saved = dict(scope.names)
    while True:
        begun = loop_values.initial()
        types = [tile.value.type for tile in begun]
        counted = [*(b.value for b in bounds), step.value]
        op = emit(ops.scf.for_, counted, [tile.value for tile in begun], attributes)
        block = _block(op.regions[0], [mlir.ir.IndexType.get(), *types])
        induction, *inside = block.arguments
        scope.names |= loop_values.bound(inside, begun)
        scope.assign(node.target, Tile(induction, intp, natural=bounds[0].natural))
        try:
            with mlir.ir.InsertionPoint(block):
                scope.within("loop", node.body)
                ended = loop_values.final(scope.names, begun)
                emit(ops.scf.yield_, [tile.value for tile in ended])
            break
        except _RetypedError as error:
            loop_values.retype(error)
            op.erase()
            scope.names = dict(saved)
    loop_values.assign(loop_values.bound(list(op.results), begun))


def repeat(scope: Scope, node: ast.While) -> bool:
    """Run a `while` from here on, if its condition is known only when the kernel runs.

    Returns:
        Whether it is known now, and there is a turn to run.

    Raises:
        TilecError: for a condition that is a tile, or values that change their type.
    """
    known = _tried(scope, node.test)
    if not isinstance(known, Tile):
        return bool(known)
    loop_values = _LoopValues(scope, node)
    saved = dict(scope.names)
    while True:
        begun = loop_values.initial()
        types = [tile.value.type for tile in begun]
        op = emit(ops.scf.while_, [tile.value for tile in begun], types)
        before, after = (_block(region, types) for region in op.regions)
        scope.names |= loop_values.bound(before.arguments, begun)
        with mlir.ir.InsertionPoint(before):
            condition = scope.value(node.test)
            held = astype(as_scalar(condition), bool_)
            emit(ops.scf.condition, held.value, before.arguments)
        scope.names |= loop_values.bound(after.arguments, begun)
        try:
            with mlir.ir.InsertionPoint(after):
                scope.within("loop", node.body)
                ended = loop_values.final(scope.names, begun)
                emit(ops.scf.yield_, [tile.value for tile in ended])
            break
        except _RetypedError as error:
            loop_values.retype(error)
            op.erase()
            scope.names = dict(saved)
    loop_values.assign(loop_values.bound(list(op.results), begun))
    return False


def _tried(scope: Scope, test: ast.expr) -> Any:
    """What a condition is, found where it leaves no trace."""
    trial = emit(ops.scf.execute_region)
    names = dict(scope.names)
    try:
        with mlir.ir.InsertionPoint(_block(trial.regions[0], [])):
            condition = scope.value(test)
    finally:
        scope.names = names
    trial.erase()
    if isinstance(condition, Tile) and condition.shape:
        raise TilecError("'while' takes one truth value, not a tile; tl.any and tl.all make one")
    return condition


def _block(region: Any, types: Sequence[Any]) -> Any:
    unknown = mlir.ir.Location.unknown()
    return region.blocks.append(*types, arg_locs=[unknown] * len(types))


def _bound(value: Any, what: str) -> Tile:
    if isinstance(value, int) and not isinstance(value, bool):
        return as_scalar(value, intp)
    if not isinstance(value, Tile) or value.shape or value.dtype.kind == "float":
        raise TilecError(f"the {what} of a range is an integer, not {value!r}")
    return astype(value, intp)
