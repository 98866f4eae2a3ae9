"""The exploration of orders against every interleaving of small programs."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from tilec.sim.orders.explore import explore
from tilec.sim.orders.ops import Kind, Op, Trace
from tilec.sim.ptx.module import Instruction, Scope

from .brute_force import Program, faulty, random_program

EVERYONE = 0xFFFFFFFF
NOTHING = Instruction("nop", (), (), None, False, 0, Scope(), None)


def trace_of(program: Program) -> Trace:
    """The same program as the simulator would record it: all meet once its mbarriers are made."""

    def op(kind: Kind, **more: object) -> Op:
        return Op(kind, NOTHING, EVERYONE, **more)  # type: ignore[arg-type]

    warps = []
    for warp, steps in enumerate(program.warps):
        ops = []
        if warp == 0:
            ops += [op(Kind.INIT, key=(0, n, 1), count=c) for n, c in enumerate(program.counts)]
        ops += [op(Kind.BARRIER_ARRIVE, value=9), op(Kind.BARRIER_LEAVE, value=9)]
        for what, where, value in steps:
            key, places = (0, where, 1), np.array([where * 16])
            match what:
                case "read" | "write":
                    ops.append(op(Kind[what.upper()], places=places, size=16))
                case "arrive":
                    ops.append(op(Kind.ARRIVE, key=key, count=1, value=value))
                case "expect":
                    ops.append(op(Kind.EXPECT, key=key, value=value))
                case "copy":
                    target = np.array([(100 + where) * 16])
                    ops.append(op(Kind.COPY, key=key, value=value, places=target, size=16))
                case "wait":
                    ops.append(op(Kind.WAIT, key=key, value=value))
                case "meet" | "sync":
                    ops.append(op(Kind.BARRIER_ARRIVE, count=value, value=where))
                    if what == "sync":
                        ops.append(op(Kind.BARRIER_LEAVE, value=where))
        warps.append(ops)
    return Trace((0, 1), warps, len(warps))


def compare(seed: int, programs: int) -> Counter[str]:
    draw, found = random.Random(seed), Counter[str]()
    for number in range(programs):
        program = random_program(draw)
        expected = faulty(program, 20_000)
        if expected is None:
            found["too large"] += 1
            continue
        explored = explore(trace_of(program), 100_000)
        assert explored.complete
        assert bool(explored.faults) == expected, (seed, number, program, explored.faults)
        found["wrong" if expected else "right"] += 1
        found["only in others"] += bool(explored.faults) and explored.orders > 1
        found["several orders"] += explored.orders > 1
    return found


def test_random_programs() -> None:
    found = compare(1, 150)
    assert found["right"] > 20
    assert found["wrong"] > 20
    assert found["only in others"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 22))
def test_more_random_programs(seed: int) -> None:
    compare(seed, 2_000)
