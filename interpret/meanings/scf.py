"""`scf`: loops and branches, with threads that part and meet again."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
from tilec.dialects.tile.attributes import PRODUCER
from tilec.interpret.call import Call
from tilec.interpret.cta import Running
from tilec.interpret.execution import Role, execute
from tilec.interpret.numbers import Array
from tilec.interpret.places import is_fragment
from tilec.interpret.program import Body
from tilec.interpret.registry import Value, meaning
from tilec.isa import LANES, WARPGROUP_THREADS


def _run(call: Call, body: Body, active: Array, arguments: Sequence[Value] = ()) -> Running:
    return execute(call.cta, body, active, arguments, call.values)


@meaning("scf.for", control=True)
def _for(call: Call, lower: Array, upper: Array, step: Array, *carried: Value) -> Running:
    first, last, by = (call.uniform(value, "a bound of a loop") for value in (lower, upper, step))
    values = carried
    if by <= 0:
        call.report("bounds", f"takes a step of {by}")
        return values
    (body,) = call.node.bodies
    for at in range(int(first), int(last), int(by)):
        values = yield from _run(call, body, call.active, (np.asarray(at), *values))
    return values


@meaning("scf.while", control=True)
def _while(call: Call, *carried: Value) -> Running:
    before, after = call.node.bodies
    values: tuple[Value, ...] = carried
    while True:
        condition, *handed = yield from _run(call, before, call.active, values)
        if not call.uniform(condition, "a condition"):
            return tuple(handed)
        values = yield from _run(call, after, call.active, handed)


@meaning("scf.execute_region", control=True)
def _execute_region(call: Call) -> Running:
    (body,) = call.node.bodies
    return (yield from _run(call, body, call.active))


@meaning("scf.if", control=True)
def _if(call: Call, condition: Array) -> Running | Generator[None, None, Role | tuple[Value, ...]]:
    taken = np.broadcast_to(condition, call.active.shape)
    if call.has(PRODUCER):
        threads = call.active & taken
        (body,) = call.node.bodies[:1]
        # Its warps have roles of their own, one branch after the other.
        return Role(threads, execute(call.cta, body, threads, (), call.values, parts=True))
    bodies = call.node.bodies
    chosen = taken[call.active]
    if chosen.all() or not chosen.any():
        at = 0 if chosen.all() else 1
        return (yield from _branch(call, at, call.active))
    sides = [call.active & taken, call.active & ~taken]
    running = [_branch(call, at, side) for at, side in enumerate(sides)]
    if call.parts and not call.node.outputs and all(map(_are_warps, sides)):
        return (yield from _apart(sides, running))
    results = yield from _together(running)
    if not len(call.node.outputs):
        return ()
    assert len(bodies) == 2
    return tuple(
        _merged(call, at, one, other, sides[0])
        for at, (one, other) in enumerate(zip(*results, strict=True))
    )


def _branch(call: Call, at: int, active: Array) -> Running:
    if at >= len(call.node.bodies):
        return ()
    return (yield from _run(call, call.node.bodies[at], active))


def _are_warps(threads: Array) -> bool:
    """Whether threads are whole warps."""
    each = threads.reshape(-1, LANES)
    return bool((each.any(axis=1) == each.all(axis=1)).all())


def _apart(
    sides: Sequence[Array], running: Sequence[Running]
) -> Generator[None, None, Role | tuple[Value, ...]]:
    """Run two sides in turns until one ends, which goes on while the other comes later."""
    while True:
        ended = [_ends(one) for one in running]
        if all(ended):
            return ()
        if any(ended):
            late = ended.index(False)
            return Role(sides[late], running[late], comes_back=True)
        yield


def _ends(running: Running) -> bool:
    """Let something run until it waits; whether it has ended."""
    try:
        next(running)
    except StopIteration:
        return True
    return False


def _together(running: Sequence[Running]) -> Running:
    """Run all to their ends, in turns: one goes on where another waits for it."""
    results: list[tuple[Value, ...]] = [()] * len(running)
    left = list(range(len(running)))
    while left:
        for at in list(left):
            try:
                next(running[at])
            except StopIteration as end:
                results[at] = end.value
                left.remove(at)
        if left:
            yield
    return tuple(results)


def _merged(call: Call, at: int, one: Value, other: Value, first: Array) -> Value:
    """A result of threads that took either way."""
    type_ = call.result_type(at)
    tile = call.tile(type_)
    if not isinstance(one, np.ndarray) or (tile is not None and not is_fragment(tile)):
        call.unknown("a value of the whole CTA depends on a condition that differs between threads")
    if call.warpgroup_tile(type_) is not None:
        groups = [bool(first[at].any()) for at in _groups(len(first))]
        return np.where(np.reshape(groups, (-1, 1, 1)), one, other)
    if tile is None:
        return np.where(first, one, other)
    warps = first.reshape(-1, LANES).any(axis=1)
    return np.where(warps.reshape(-1, *(1,) * (one.ndim - 1)), one, other)


def _groups(threads: int) -> list[slice]:
    """The threads of each warpgroup."""
    return [slice(at, at + WARPGROUP_THREADS) for at in range(0, threads, WARPGROUP_THREADS)]
