"""Loops of a kernel: `scf.for` and `scf.while`, whose turns hand on what the next one reads."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeGuard

from tilec.dialects.tile.attributes import DEFER_WAIT, OVERLAP, STAGES, UNROLL
from tilec.ir import mlir, ops
from tilec.isa import TilecError

from .arithmetic import binary
from .block_end import END, VALUE, BlockEnd, Way
from .branches import choice
from .casts import astype
from .dtypes import bool_, intp
from .elementwise import where
from .emit import emit, flag, i64
from .loop_values import LoopValues, RetypedError
from .program import Range
from .scope import Scope
from .tile import Tile
from .yielded import as_scalar, with_own_lists

_LEAVING = frozenset((Way.BREAK, Way.RETURN))


class _LeftError(Exception):
    """A turn may leave the loop, which it was not built for."""


def _whole(number: Any, name: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number < 1 << 31:
        raise TilecError(f"{name} of a loop is a positive integer or None, not {number!r}")
    return number


def count(scope: Scope, node: ast.For, values: Range) -> BlockEnd:
    """Run a loop over a range.

    Raises:
        TilecError: for bounds that are not integers, or values that change their type.
    """
    start, stop = (_bound(b, what) for b, what in ((values.start, "start"), (values.stop, "stop")))
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
    for attribute, name, wanted in (
        (OVERLAP, "overlap", values.overlap),
        (DEFER_WAIT, "defer_wait", values.defer_wait),
    ):
        if wanted not in (None, True, False):
            raise TilecError(f"{name} of a loop is True, False or None, not {wanted!r}")
        if wanted is not None:
            attributes[attribute] = flag(wanted)

    def counted(loop: LoopValues) -> BlockEnd:
        begun = loop.initial()
        bounds = [start.value, stop.value, step.value]
        op = emit(ops.scf.for_, bounds, [tile.value for tile in begun], attributes)
        with _erased_on_error(op):
            types = [tile.value.type for tile in begun]
            block = _block(op.regions[0], [mlir.ir.IndexType.get(), *types])
            induction, *inside = block.arguments
            with mlir.ir.InsertionPoint(block):
                scope.names |= loop.bound(inside, begun)
                scope.assign(node.target, Tile(induction, intp, natural=start.natural))
                if _turn(scope, node).ways & _LEAVING:
                    raise _LeftError
                ended = loop.final(scope.names, begun)
                emit(ops.scf.yield_, [tile.value for tile in ended])
        loop.assign(loop.bound(list(op.results), begun))
        return END

    def left(loop: LoopValues) -> BlockEnd:
        def more(counter: Tile) -> Tile:
            return binary("less", counter, stop)

        def turn(counter: Tile) -> tuple[BlockEnd, Tile]:
            scope.assign(node.target, Tile(counter.value, intp, natural=start.natural))
            return _turn(scope, node), binary("add", counter, step)

        return _while(scope, loop, more, turn, start)

    return _build(scope, node, counted, left)


def repeat(scope: Scope, node: ast.While) -> BlockEnd | bool:
    """Run a `while` from here on, if its condition is known only when the kernel runs.

    Returns:
        How the loop ends, or whether there is a turn to run, if that is known now.

    Raises:
        TilecError: for a condition that is a tile, or values that change their type.
    """
    known = _tried(scope, node.test)
    return _repeat(scope, node) if isinstance(known, Tile) else bool(known)


def repeat_always(scope: Scope, node: ast.While) -> BlockEnd:
    """Run a loop that the kernel leaves by `break` or `return`."""
    return _repeat(scope, node)


def is_endless(node: ast.For | ast.While) -> TypeGuard[ast.While]:
    """Whether a loop is written `while True`."""
    return isinstance(node, ast.While) and isinstance(node.test, ast.Constant)


def undoing(scope: Scope) -> Callable[[], None]:
    """Give what takes back all that is made from now on at the end of the block."""
    names = with_own_lists(scope.names, scope.source.local)
    mark = as_scalar(0, intp).value.owner

    def undo() -> None:
        scope.names = names
        made = [op.operation for op in mlir.ir.InsertionPoint.current.block.operations]
        for op in reversed(made[made.index(mark) :]):  # extents of arrays stand before, and stay
            op.erase()

    return undo


def _repeat(scope: Scope, node: ast.While) -> BlockEnd:
    def more(_: Tile) -> Tile:
        return astype(as_scalar(scope.value(node.test)), bool_)

    def turn(counter: Tile) -> tuple[BlockEnd, Tile]:
        return _turn(scope, node), counter

    def stays(loop: LoopValues) -> BlockEnd:
        return _while(scope, loop, more, turn, None)

    def left(loop: LoopValues) -> BlockEnd:
        return _while(scope, loop, more, turn, as_scalar(0, intp))

    return _build(scope, node, stays, left)


def behind(end: BlockEnd) -> BlockEnd:
    """How a loop ends of which a turn, or the last one, ended so."""
    if Way.RETURN not in end.ways:
        return END
    if end.known is not None:
        return end
    if end.ways <= {Way.END, Way.RETURN}:
        return end
    returned = where(binary("equal", end.code, int(Way.RETURN)), end.code, int(Way.END))
    return BlockEnd(frozenset((Way.END, Way.RETURN)), returned)


def _build(
    scope: Scope,
    node: ast.For | ast.While,
    stays: Callable[[LoopValues], BlockEnd],
    left: Callable[[LoopValues], BlockEnd],
) -> BlockEnd:
    """Build a loop, again where a turn shows what it has to be.

    Args:
        scope: the function.
        node: the loop.
        stays: builds it if no turn leaves it.
        left: builds it if one may.
    """
    values = LoopValues(scope, node)
    saved, make = dict(scope.names), stays
    while True:
        try:
            return make(values)
        except RetypedError as error:
            values.retype(error)
        except _LeftError:
            make = left
            if VALUE in scope.names:
                values.hold_result()
        scope.names = dict(saved)


def _while(
    scope: Scope,
    loop: LoopValues,
    more: Callable[[Tile], Tile],
    turn: Callable[[Tile], tuple[BlockEnd, Tile]],
    counter: Tile | None,
) -> BlockEnd:
    """A loop as `scf.while`.

    Args:
        scope: the function.
        loop: what it hands on.
        more: whether there is another turn.
        turn: runs one; gives how it ended, and the counter's next value.
        counter: its first value; None for a loop that no turn leaves, which needs none.
    """
    leaves_ = counter is not None
    values = loop.initial()
    begun = [counter, as_scalar(int(Way.END), intp), *values] if counter is not None else values
    op = emit(ops.scf.while_, [t.value for t in begun], [t.value.type for t in begun])
    with _erased_on_error(op):
        before, after = (_block(region, [t.value.type for t in begun]) for region in op.regions)
        with mlir.ir.InsertionPoint(before):
            own, code, inside = _parts(before.arguments, leaves_=leaves_)
            scope.names |= loop.bound(inside, values)
            held = more(own) if code is None else _unless_left(code, partial(more, own))
            emit(ops.scf.condition, held.value, before.arguments)
        with mlir.ir.InsertionPoint(after):
            own, _, inside = _parts(after.arguments, leaves_=leaves_)
            scope.names |= loop.bound(inside, values)
            end, following = turn(own)
            if not leaves_ and end.ways & _LEAVING:
                raise _LeftError
            yielded = [following, _code(end)] if leaves_ else []
            yielded += loop.final(scope.names, values)
            emit(ops.scf.yield_, [tile.value for tile in yielded])
    _, code, results = _parts(list(op.results), leaves_=leaves_)
    loop.assign(loop.bound(results, values))
    return END if code is None else behind(BlockEnd(end.ways | {Way.END}, code))


def _parts(values: Sequence[Any], *, leaves_: bool) -> tuple[Tile, Tile | None, Sequence[Any]]:
    """Counter, code and the rest of what an `scf.while` hands on."""
    if not leaves_:
        return as_scalar(0, intp), None, values
    counter, code, *rest = values
    return Tile(counter, intp), Tile(code, intp, natural=True), rest


def _code(end: BlockEnd) -> Tile:
    return end.code if isinstance(end.code, Tile) else as_scalar(int(end.code), intp)


def _unless_left(code: Tile, more: Callable[[], Tile]) -> Tile:
    """Whether there is another turn, asked only where no turn has left the loop."""
    held: Tile = choice(binary("less", code, int(Way.BREAK)), more, lambda: False)
    return held


def _turn(scope: Scope, node: ast.For | ast.While) -> BlockEnd:
    with scope.conditional():
        return scope.turn(node)


@contextmanager
def _erased_on_error(op: Any) -> Iterator[None]:
    """Take away an op that is to be built otherwise."""
    try:
        yield
    except (RetypedError, _LeftError):
        op.erase()
        raise


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
