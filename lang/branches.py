"""Conditions of a kernel: `scf.if`, whose branches hand on what is read behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.ir import mlir, ops
from tilec.isa import TilecError

from .block_end import BlockEnd, Returned
from .casts import astype, common
from .dtypes import DType, bool_, float32, intp
from .emit import emit
from .liveness import assigned
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

if TYPE_CHECKING:
    from tilec.ir.mlir import ir

_VALUE = "the value"


class _Branch(NamedTuple):
    """A branch as it ended.

    Attributes:
        block: its block.
        names: what the names are at its end.
        end: how it ended.
    """

    block: ir.Block
    names: dict[str, Any]
    end: BlockEnd = None


def branch(scope: Scope, node: ast.If, condition: Tile) -> BlockEnd:
    """Run both branches of a condition that is known only when the kernel runs.

    Raises:
        TilecError: if the condition is a tile, or the branches do not fit each other.
    """
    held = _truth(condition)
    saved = scope.names
    draft = emit(ops.scf.branch, held.value)
    branches: list[_Branch] = []
    for region, body in zip(draft.regions, (node.body, node.orelse), strict=True):
        scope.names = dict(saved)
        block = region.blocks.append()
        with mlir.ir.InsertionPoint(block):
            end = scope.within("if", body)
        branches.append(_Branch(block, scope.names, end))
    scope.names = saved
    if any(isinstance(one.end, Returned) for one in branches):
        _check_returns(branches, last=id(node) in scope.tails)
        for one in branches:
            one.names[_VALUE] = one.end.value if isinstance(one.end, Returned) else None
        names = [_VALUE]
    else:
        assigned_names = assigned([*node.body, *node.orelse])
        names = sorted(assigned_names & scope.source.liveness.after(node))
    merged = _merge(names, branches, f"of the condition at line {node.lineno}")
    values = _build(held, draft, branches, merged)
    if names == [_VALUE]:
        return Returned(values[_VALUE])
    scope.names |= values
    return None


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
            branches.append(_Branch(block, {_VALUE: compute()}))
    merged = _merge([_VALUE], branches, "of the condition")
    value = _build(held, draft, branches, merged)[_VALUE]
    if isinstance(value, Undefined):
        raise TilecError(value.reason)
    return value


def _truth(condition: Tile) -> Tile:
    if condition.shape:
        raise TilecError("'if' takes one truth value, not a tile; tl.where chooses by element")
    return astype(condition, bool_)


def _check_returns(branches: list[_Branch], *, last: bool) -> None:
    if not last and not all(isinstance(one.end, Returned) for one in branches):
        raise TilecError(
            "a return in one branch of a condition of the kernel, with more behind it: return in "
            "both branches, or set a variable"
        )


def _merge(names: list[str], branches: list[_Branch], of: str) -> dict[str, tuple[Any, Any]]:
    """What each name is at the end of both branches: values of one form, or both Undefined."""
    where = f"in the branches {of}"
    found: dict[str, tuple[Any, Any]] = {}
    for name in names:
        if not all(name in end.names for end in branches):
            missing = Undefined(f"'{name}' has a value in one branch only {of}")
            found[name] = missing, missing
            continue
        one, other = (end.names[name] for end in branches)
        if not have_same_form(one, other) or not all(
            isinstance(v, Tile) or is_number(v) or is_same(v, w)
            for v, w in zip(leaves(one), leaves(other), strict=True)
        ):
            kinds = Undefined(f"'{name}' is {one!r} and {other!r} {where}")
            found[name] = kinds, kinds
            continue
        pairs = [
            _pair(name, v, w, branches, where)
            for v, w in zip(leaves(one), leaves(other), strict=True)
        ]
        found[name] = (
            rebuild(one, iter([v for v, _ in pairs])),
            rebuild(other, iter([w for _, w in pairs])),
        )
    return found


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
    """The final op instead of the draft; what the names are behind it."""
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

    return {
        name: rebuild(
            one,
            iter([result(v, w) for v, w in zip(leaves(one), leaves(other), strict=True)]),
        )
        for name, (one, other) in merged.items()
    }
