"""Conditions of a kernel: `scf.if`, whose branches hand on what is read after it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.ir import mlir, ops
from tilec.isa import TilecError

from .arithmetic import binary
from .block_end import CODE, END, BlockEnd, Way
from .casts import astype, common
from .dtypes import DType, bool_, float32, intp
from .emit import emit
from .scope import Scope
from .tile import Tile
from .yielded import (
    Undefined,
    as_scalar,
    by_leaf,
    convert_to,
    have_same_form,
    is_number,
    is_same,
    leaves,
    rebuild,
    with_own_lists,
    zeros_like,
)

if TYPE_CHECKING:
    from tilec.ir.mlir import ir

_VALUE = "the value"


class _Branch(NamedTuple):
    """A branch as it ended.

    Attributes:
        block: its block.
        names: what the names are at its end.
        live: those that are read where it goes on.
        end: how it ended.
    """

    block: ir.Block
    names: dict[str, Any]
    live: frozenset[str]
    end: BlockEnd = END


def branch(scope: Scope, node: ast.If, condition: Tile) -> BlockEnd:
    """Run both branches of a condition that is known only when the kernel runs.

    Raises:
        TilecError: if the condition is a tile, or the branches do not fit each other.
    """
    bodies = (partial(scope.run, node.body), partial(scope.run, node.orelse))
    live = scope.source.liveness.after(node)
    return _join(scope, _truth(condition), bodies, live, f"of the condition at line {node.lineno}")


def go_on(
    scope: Scope,
    end: BlockEnd,
    rest: Callable[[], BlockEnd],
    live: frozenset[str],
    *,
    last: Way = Way.END,
) -> BlockEnd:
    """Run what follows a block where the kernel did not leave that.

    Args:
        scope: the function.
        end: of the block; the kernel decides of several ways.
        rest: runs what follows.
        live: the names that are read after it.
        last: the last way in which the block goes on with what follows.
    """
    goes_on = [way for way in Way if way <= last]
    left = end.without(*goes_on)
    held = binary("less_equal", end.code, int(last))
    return _join(scope, held, (rest, lambda: left), live, "where the kernel goes on")


def _join(
    scope: Scope,
    held: Tile,
    bodies: Sequence[Callable[[], BlockEnd]],
    behind: frozenset[str],
    of: str,
) -> BlockEnd:
    """Run two branches, and give the names what they are after them."""
    saved = scope.names
    draft = emit(ops.scf.branch, held.value)
    branches: list[_Branch] = []
    for region, body in zip(draft.regions, bodies, strict=True):
        scope.names = with_own_lists(saved, scope.source.local)
        block = region.blocks.append()
        with mlir.ir.InsertionPoint(block), scope.conditional():
            end = body()
        branches.append(_Branch(block, scope.names, scope.live(end, behind), end))
    scope.names = saved
    one, other = branches
    ways = one.end.ways | other.end.ways
    names = {
        name
        for name in one.live | other.live
        if any(ended.names.get(name, CODE) is not saved.get(name, CODE) for ended in branches)
    }
    if len(ways) > 1:
        names.add(CODE)
        for ended in branches:
            code = ended.end.code
            ended.names[CODE] = int(code) if isinstance(code, Way) else code
    merged = _merge(sorted(names), branches, of)
    values = _build(held, draft, branches, merged)
    code = values.pop(CODE, next(iter(ways)))
    scope.names |= values
    return BlockEnd(ways, code)


def choice(condition: Tile, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """`one() if condition else other()`, of which one is computed when the kernel runs.

    Raises:
        TilecError: if the condition is a tile, or the values do not fit each other.
    """
    held = _truth(condition)
    draft = emit(ops.scf.branch, held.value)
    branches: list[_Branch] = []
    for region, compute in zip(draft.regions, (one, other), strict=True):
        block = region.blocks.append()
        with mlir.ir.InsertionPoint(block):
            branches.append(_Branch(block, {_VALUE: compute()}, frozenset((_VALUE,))))
    merged = _merge([_VALUE], branches, "of the condition")
    value = _build(held, draft, branches, merged)[_VALUE]
    if isinstance(value, Undefined):
        raise TilecError(value.reason)
    return value


def _truth(condition: Tile) -> Tile:
    if condition.shape:
        raise TilecError("'if' takes one truth value, not a tile; tl.where chooses by element")
    return astype(condition, bool_)


def _merge(names: list[str], branches: list[_Branch], of: str) -> dict[str, tuple[Any, Any]]:
    """What each name is at the end of both branches: values of one form, or both Undefined."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in names:
        needed = [ended for ended in branches if name in ended.live or name == CODE]
        if any(name not in ended.names for ended in needed):
            found[name] = (Undefined(f"'{name}' has a value in one branch only {of}"),) * 2
            continue
        values = [ended.names[name] for ended in needed]
        undefined = next((value for value in values if isinstance(value, Undefined)), None)
        if undefined is not None:
            found[name] = undefined, undefined
        elif len(needed) == 1:
            found[name] = _pair_with_any(values[0], branches, needed[0])
        else:
            found[name] = _pair_values(name, values[0], values[1], branches, of)
    return found


def _pair_with_any(value: Any, branches: list[_Branch], needed: _Branch) -> tuple[Any, Any]:
    """A value that is read after one branch only, and any of its type for the other."""
    (other,) = (ended for ended in branches if ended is not needed)
    with mlir.ir.InsertionPoint(other.block):
        any_ = zeros_like(value)
    return (value, any_) if needed is branches[0] else (any_, value)


def _pair_values(
    name: str, one: Any, other: Any, branches: list[_Branch], of: str
) -> tuple[Any, Any]:
    """Values of one form, or both Undefined."""
    where = f"in the branches {of}"
    if not have_same_form(one, other) or not all(
        isinstance(v, Tile) or is_number(v) or is_same(v, w)
        for v, w in zip(leaves(one), leaves(other), strict=True)
    ):
        kinds = Undefined(f"'{name}' is {one!r} and {other!r} {where}")
        return kinds, kinds
    pairs = [
        _pair(name, v, w, branches, where) for v, w in zip(leaves(one), leaves(other), strict=True)
    ]
    return (
        rebuild(one, iter([v for v, _ in pairs])),
        rebuild(other, iter([w for _, w in pairs])),
    )


def _pair(name: str, one: Any, other: Any, branches: list[_Branch], where: str) -> tuple[Any, Any]:
    """Two values of one type, each made at the end of its branch."""
    if is_same(one, other):
        return one, other
    if not isinstance(one, Tile) and not isinstance(other, Tile):
        dtype = _number_type(one, other)
        with mlir.ir.InsertionPoint(branches[0].block):
            one = as_scalar(one, dtype)
    if not isinstance(one, Tile) or (isinstance(other, Tile) and _is_wider(other, one)):
        with mlir.ir.InsertionPoint(branches[0].block):
            return convert_to(one, other, name, where), other
    with mlir.ir.InsertionPoint(branches[1].block):
        return one, convert_to(other, one, name, where)


def _is_wider(one: Tile, other: Tile) -> bool:
    """Whether an integer of the run can take another scalar's type, and not that one its own."""
    return one.dtype is not other.dtype and common(one, other) is one.dtype


def _number_type(one: Any, other: Any) -> type[DType]:
    if isinstance(one, float) or isinstance(other, float):
        return float32
    return bool_ if isinstance(one, bool) and isinstance(other, bool) else intp


def _build(
    condition: Tile, draft: Any, branches: list[_Branch], merged: dict[str, tuple[Any, Any]]
) -> dict[str, Any]:
    """The final op instead of the draft; what the names are after it."""
    pairs = [
        (v, w)
        for one, other in merged.values()
        for v, w in zip(leaves(one), leaves(other), strict=True)
        if not is_same(v, w)
    ]
    op = emit(ops.scf.branch, condition.value, [v.value.type for v, _ in pairs])
    for at, end in enumerate(branches):
        end.block.append_to(op.regions[at])
        with mlir.ir.InsertionPoint(end.block):
            emit(ops.scf.yield_, [pair[at].value for pair in pairs])
    draft.erase()
    results = iter(op.results)

    def result(one: Any, other: Any) -> Any:
        if is_same(one, other):
            return one
        natural = one.natural and other.natural
        return Tile(next(results), one.dtype, one.shape, natural=natural)

    return {name: by_leaf(result, one, other) for name, (one, other) in merged.items()}
