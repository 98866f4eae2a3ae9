"""Conditions of a kernel: `scf.if`, whose branches hand on what is read behind it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.ir import mlir
from tilec.isa import TilecError

from .carried import Undefined, alike, fitted, is_number, leaves, rebuilt, same, scalar
from .casts import astype, common
from .dtypes import DType, bool_, float32, intp
from .emit import operation
from .liveness import assigned
from .signals import Returned, Signal
from .tile import Tile

if TYPE_CHECKING:
    from .interpreter import Frame

_VALUE = "the value"


class _End(NamedTuple):
    """A branch as it ended: its block, and what the names are there."""

    block: Any
    names: dict[str, Any]


def branch(frame: Frame, node: ast.If, condition: Tile) -> Signal:
    """Run both branches of a condition that is known only when the kernel runs.

    Raises:
        TilecError: if the condition is a tile, or the branches do not fit each other.
    """
    held = _truth(condition)
    saved = frame.names
    trial = operation("scf.if", [held.value], regions=2)
    ends: list[_End] = []
    signals: list[Signal] = []
    for region, body in zip(trial.regions, (node.body, node.orelse), strict=True):
        frame.names = dict(saved)
        block = region.blocks.append()
        with mlir.ir.InsertionPoint(block):
            signals.append(frame.within("if", body))
        ends.append(_End(block, frame.names))
    frame.names = saved
    if any(isinstance(signal, Returned) for signal in signals):
        _check_returns(signals, last=id(node) in frame.tails)
        for end, signal in zip(ends, signals, strict=True):
            end.names[_VALUE] = signal.value if isinstance(signal, Returned) else None
        names = [_VALUE]
    else:
        branches = assigned([*node.body, *node.orelse])
        names = sorted(branches & frame.source.liveness.after(node))
    merged = _merged(names, ends, f"of the condition at line {node.lineno}")
    values = _built(held, trial, ends, merged)
    if names == [_VALUE]:
        return Returned(values[_VALUE])
    frame.names |= values
    return None


def choice(condition: Tile, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """`one() if condition else other()`, of which one is computed when the kernel runs.

    Raises:
        TilecError: if the condition is a tile, or the values do not fit each other.
    """
    held = _truth(condition)
    trial = operation("scf.if", [held.value], regions=2)
    ends: list[_End] = []
    for region, compute in zip(trial.regions, (one, other), strict=True):
        block = region.blocks.append()
        with mlir.ir.InsertionPoint(block):
            ends.append(_End(block, {_VALUE: compute()}))
    value = _built(held, trial, ends, _merged([_VALUE], ends, "of the condition"))[_VALUE]
    if isinstance(value, Undefined):
        raise TilecError(value.reason)
    return value


def _truth(condition: Tile) -> Tile:
    if condition.shape:
        raise TilecError("'if' takes one truth value, not a tile; tl.where chooses by element")
    return astype(condition, bool_)


def _check_returns(signals: list[Signal], *, last: bool) -> None:
    if not last and not all(isinstance(signal, Returned) for signal in signals):
        raise TilecError(
            "a return in one branch of a condition of the kernel, with more behind it: return in "
            "both branches, or set a variable"
        )


def _merged(names: list[str], ends: list[_End], of: str) -> dict[str, tuple[Any, Any]]:
    """What each name is at the end of both branches: values of one form, or both Undefined."""
    where = f"in the branches {of}"
    found: dict[str, tuple[Any, Any]] = {}
    for name in names:
        if not all(name in end.names for end in ends):
            missing = Undefined(f"'{name}' has a value in one branch only {of}")
            found[name] = missing, missing
            continue
        one, other = (end.names[name] for end in ends)
        if not alike(one, other) or not all(
            isinstance(v, Tile) or is_number(v) or same(v, w)
            for v, w in zip(leaves(one), leaves(other), strict=True)
        ):
            kinds = Undefined(f"'{name}' is {one!r} and {other!r} {where}")
            found[name] = kinds, kinds
            continue
        pairs = [
            _pair(name, v, w, ends, where) for v, w in zip(leaves(one), leaves(other), strict=True)
        ]
        found[name] = (
            rebuilt(one, iter([v for v, _ in pairs])),
            rebuilt(other, iter([w for _, w in pairs])),
        )
    return found


def _pair(name: str, one: Any, other: Any, ends: list[_End], where: str) -> tuple[Any, Any]:
    """Two values of one type, each made at the end of its branch."""
    if same(one, other):
        return one, other
    if not isinstance(one, Tile) and not isinstance(other, Tile):
        dtype = _number_type(one, other)
        with mlir.ir.InsertionPoint(ends[0].block):
            one = scalar(one, dtype)
    if not isinstance(one, Tile) or (isinstance(other, Tile) and _is_wider(other, one)):
        with mlir.ir.InsertionPoint(ends[0].block):
            return fitted(one, other, name, where), other
    with mlir.ir.InsertionPoint(ends[1].block):
        return one, fitted(other, one, name, where)


def _is_wider(one: Tile, other: Tile) -> bool:
    """Whether an integer of the run can take another scalar's type, and not that one its own."""
    return one.dtype is not other.dtype and common(one, other) is one.dtype


def _number_type(one: Any, other: Any) -> type[DType]:
    if isinstance(one, float) or isinstance(other, float):
        return float32
    return bool_ if isinstance(one, bool) and isinstance(other, bool) else intp


def _built(
    condition: Tile, trial: Any, ends: list[_End], merged: dict[str, tuple[Any, Any]]
) -> dict[str, Any]:
    """The final op instead of the trial one; what the names are behind it."""
    pairs = [
        (v, w)
        for one, other in merged.values()
        for v, w in zip(leaves(one), leaves(other), strict=True)
        if not same(v, w)
    ]
    op = operation("scf.if", [condition.value], [v.value.type for v, _ in pairs], regions=2)
    for at, end in enumerate(ends):
        end.block.append_to(op.regions[at])
        with mlir.ir.InsertionPoint(end.block):
            operation("scf.yield", [pair[at].value for pair in pairs])
    trial.erase()
    results = iter(op.results)

    def result(one: Any, other: Any) -> Any:
        if same(one, other):
            return one
        natural = one.natural and other.natural
        return Tile(next(results), one.dtype, one.shape, natural=natural)

    return {
        name: rebuilt(
            one,
            iter([result(v, w) for v, w in zip(leaves(one), leaves(other), strict=True)]),
        )
        for name, (one, other) in merged.items()
    }
