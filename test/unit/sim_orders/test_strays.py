"""Arrivals that an mbarrier does not wait for: a ring with `wgmma` and an arrival too few."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim.orders import explore as exploring
from tilec.sim.orders.explore import Exploration, explore
from tilec.sim.orders.ops import Kind, Op, Trace

from .test_brute_force import EVERYONE, NOTHING

FULL, EMPTY = (0, 0, 1), (0, 8, 1)
STAGE = np.array([1024])


def op(kind: Kind, **more: object) -> Op:
    return Op(kind, NOTHING, EVERYONE, **more)  # type: ignore[arg-type]


def ring(rounds: int, expected: int, arriving: int = 4) -> Trace:
    """A warpgroup multiplies what warp 4 copies to one stage; `arriving` of its warps say so."""
    meet = [op(Kind.BARRIER_ARRIVE, value=9), op(Kind.BARRIER_LEAVE, value=9)]
    made = [op(Kind.INIT, key=FULL, count=1), op(Kind.INIT, key=EMPTY, count=expected)]
    producer = [*made, *meet]
    consumers = [list(meet) for _ in range(4)]
    for at in range(rounds):
        if at:
            producer.append(op(Kind.WAIT, key=EMPTY, value=(at - 1) & 1))
        producer.append(op(Kind.ARRIVE, key=FULL, count=1, value=16))
        producer.append(op(Kind.COPY, key=FULL, value=16, places=STAGE, size=16))
        for warp, ops in enumerate(consumers):
            ops.append(op(Kind.WAIT, key=FULL, value=at & 1))
            ops.append(op(Kind.PRODUCT_READ, value=at + 1, places=STAGE, size=16))
            ops.append(op(Kind.PRODUCT_COMMIT, value=at + 1))
            ops.append(op(Kind.PRODUCT_WAIT, value=at + 1))
            if warp < arriving:
                ops.append(op(Kind.ARRIVE, key=EMPTY, count=1))
    return Trace((0, 1), [*consumers, producer], 5)


def kinds(found: Exploration) -> set[str]:
    return {fault.kind for fault in found.faults}


@pytest.mark.parametrize("arriving", [1, 3, 4])
def test_a_right_ring(arriving: int) -> None:
    """One arrival is enough for the warpgroup, as CUTLASS has it."""
    found = explore(ring(5, arriving, arriving), 100_000)
    assert found.complete
    assert not found.faults


@pytest.mark.parametrize("rounds", [3, 4])
def test_an_arrival_too_few(rounds: int) -> None:
    found = explore(ring(rounds, 3), 100_000)
    assert found.complete
    assert kinds(found) == {"mbarrier"}
    (fault,) = found.faults
    assert "completes without it" in fault.words
    assert fault.op.kind is Kind.ARRIVE
    assert fault.warp < 4


def test_what_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check: right in few rounds; in more, the stage is overwritten in use."""
    monkeypatch.setattr(exploring, "stray", lambda *_: None)
    few, many = explore(ring(3, 3), 100_000), explore(ring(6, 3), 100_000)
    assert not few.faults
    assert "async" in kinds(many)
