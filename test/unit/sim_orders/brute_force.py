"""Every interleaving of small programs, one by one, by nothing but what the ISA says of a step.

No clocks, no reduction: a state is where each warp is and what barriers hold, and two accesses race
if both can come next. Written apart from `tilec.sim.orders`, to hold that against.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

Op = tuple[str, int, int]
"""What, the mbarrier, barrier or address, and a parity, a count or bytes."""


@dataclass(frozen=True)
class Program:
    """What each warp does, after all have met, and the arrivals that each mbarrier expects."""

    warps: tuple[tuple[Op, ...], ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """Where everything is."""

    at: tuple[int, ...]
    pending: tuple[int, ...]
    bytes: tuple[int, ...]
    phase: tuple[int, ...]
    came: tuple[tuple[int, ...], ...] = field(default=((), ()))
    wants: tuple[int, ...] = (0, 0)
    behind: frozenset[tuple[int, int]] = frozenset()  # warps that wait at barriers
    flights: tuple[tuple[int, int, int], ...] = ()  # mbarrier, address, bytes


class FaultError(Exception):
    """Something is wrong in an order."""


def put(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


def faulty(program: Program, most: int) -> bool | None:
    """Whether any interleaving is wrong; None if there are more than so many states."""
    count = len(program.counts)
    zeros = (0,) * count
    start = State((0,) * len(program.warps), program.counts, zeros, zeros)
    seen, todo = {start}, [start]
    while todo:
        state = todo.pop()
        try:
            check_accesses(program, state)
            following = list(successors(program, state))
        except FaultError:
            return True
        done = all(at == len(ops) for at, ops in zip(state.at, program.warps, strict=True))
        if not following and (state.behind or not done):
            return True
        for one in following:
            if one not in seen:
                seen.add(one)
                todo.append(one)
        if len(seen) > most:
            return None
    return False


def next_ops(program: Program, state: State) -> list[tuple[int, Op]]:
    found = []
    for warp, ops in enumerate(program.warps):
        waits = any(warp == who for who, _ in state.behind)
        if state.at[warp] < len(ops) and not waits:
            found.append((warp, ops[state.at[warp]]))
    return found


def check_accesses(program: Program, state: State) -> None:
    """Two that touch one address, one of them writing, must never both come next."""
    touching = [
        (op[1], op[0] != "read") for _, op in next_ops(program, state) if op[0] in ("read", "write")
    ]
    # A copy's address is that of its mbarrier and more.
    touching += [(100 + op[1], True) for _, op in next_ops(program, state) if op[0] == "copy"]
    touching += [(at, True) for _, at, _ in state.flights]
    for i, (at, writes) in enumerate(touching):
        for other, also in touching[i + 1 :]:
            if at == other and (writes or also):
                raise FaultError


def enabled(state: State, op: Op) -> bool:
    return op[0] != "wait" or (state.phase[op[1]] - 1) & 1 == op[2]


def successors(program: Program, state: State):
    for warp, op in next_ops(program, state):
        if enabled(state, op):
            yield step(
                program, replace(state, at=put(state.at, warp, state.at[warp] + 1)), warp, op
            )
    for number, (bar, _, size) in enumerate(state.flights):
        flights = state.flights[:number] + state.flights[number + 1 :]
        yield count_in(program, replace(state, flights=flights), bar, 0, -size)


def step(program: Program, state: State, warp: int, op: Op) -> State:
    what, where, value = op
    match what:
        case "arrive":
            return count_in(program, state, where, 1, value)
        case "expect":
            return count_in(program, state, where, 0, value)
        case "copy":
            return replace(state, flights=(*state.flights, (where, 100 + where, value)))
        case "sync" | "meet":
            here = state.came[where]
            if warp in here or (here and state.wants[where] != value):
                raise FaultError
            here = (*here, warp)
            behind = state.behind | ({(warp, where)} if what == "sync" else frozenset())
            wants = put(state.wants, where, value)
            if len(here) * 32 >= value:
                behind = frozenset(one for one in behind if one[1] != where)
                here = ()
            came = (*state.came[:where], here, *state.came[where + 1 :])
            return replace(state, came=came, wants=wants, behind=behind)
        case _:
            return state


def count_in(program: Program, state: State, bar: int, arrivals: int, size: int) -> State:
    pending = state.pending[bar] - arrivals
    if pending < 0:
        raise FaultError
    size += state.bytes[bar]
    after = replace(
        state, pending=put(state.pending, bar, pending), bytes=put(state.bytes, bar, size)
    )
    if pending or size:
        return after
    after = replace(
        after,
        pending=put(after.pending, bar, program.counts[bar]),
        phase=put(after.phase, bar, after.phase[bar] + 1),
    )
    for _, op in next_ops(program, after):
        if op[0] == "wait" and op[1] == bar and enabled(state, op):
            raise FaultError  # it was complete, and is no more the last: missed
    return after


def random_program(draw: random.Random) -> Program:
    """Two or three warps that pass data on, often right, often wrong in one place."""
    warps: list[list[Op]] = [[] for _ in range(draw.choice((2, 2, 3)))]
    counts = tuple(draw.choice((1, 1, 2)) for _ in range(2))
    phases = [0, 0]
    for _ in range(draw.randint(1, 3)):
        bar, address = draw.randrange(2), draw.randrange(2)
        first, second = draw.sample(range(len(warps)), 2)
        match draw.randrange(4):
            case 0:  # data by an mbarrier
                warps[first].append(("write", address, 0))
                for arriving in range(counts[bar]):
                    who = first if arriving == 0 else draw.choice((first, second))
                    warps[who].append(("arrive", bar, 0))
                warps[second] += [("wait", bar, phases[bar] & 1), ("read", address, 0)]
                phases[bar] += 1
            case 1:  # a copy
                warps[first] += [("arrive", bar, 16), ("copy", bar, 16)]
                warps[first] += [("arrive", bar, 0)] * (counts[bar] - 1)
                warps[second] += [("wait", bar, phases[bar] & 1), ("read", 100 + bar, 0)]
                phases[bar] += 1
            case 2:  # a barrier at which one waits
                warps[first] += [("write", address, 0), ("meet", bar, 64)]
                warps[second] += [("sync", bar, 64), ("read", address, 0)]
            case 3:  # one at which both do
                for who in (first, second):
                    warps[who].append(("sync", bar, 64))
    if draw.random() < 0.6:
        ops = draw.choice([one for one in warps if one])
        at = draw.randrange(len(ops))
        what, where, value = ops[at]
        match draw.randrange(4):
            case 0:
                del ops[at]
            case 1 if at:
                ops[at - 1], ops[at] = ops[at], ops[at - 1]
            case 2 if what == "arrive" and value:
                ops[at : at + 1] = [("expect", where, value), ("arrive", where, 0)]
                draw.choice(warps).append(ops.pop(at + draw.randrange(2)))
            case 3 if what == "wait":
                ops[at] = (what, where, 1 - value)
            case _ if where < 2:
                ops[at] = (what, 1 - where, value)
    return Program(tuple(tuple(ops) for ops in warps), counts)
