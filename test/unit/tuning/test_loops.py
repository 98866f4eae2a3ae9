"""What is walked of loops: blocks in an order in which threads meet, rounds that are left out."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.isa import target
from tilec.pipelines import pipeline
from tilec.sim.ptx import read
from tilec.tuning.counting import Counts, count, plain_launch
from tilec.tuning.counting.launches import plain
from tilec.tuning.counting.loops import Loops
from tilec.tuning.counting.order import ranks
from tilec.tuning.counting.walk import Walk

EXAMPLES = Path(__file__).parents[3] / "examples" / "kernels"


def order(after: dict[int, list[int]]) -> list[int]:
    found = ranks(after)
    return sorted(found, key=found.__getitem__)


def test_a_rotated_loop_is_walked_from_its_header() -> None:
    """Its latch stands before its body in the text, and whoever is in it goes before the exit."""
    assert order({0: [20], 10: [20], 20: [40, 30], 30: [10], 40: []}) == [0, 20, 30, 10, 40]


def test_loops_in_loops_stay_together() -> None:
    graph = {0: [1], 1: [9, 2], 2: [4, 3], 3: [2], 4: [6, 5], 5: [7], 6: [7], 7: [1], 9: []}
    found = order(graph)
    assert found.index(3) == found.index(2) + 1  # the inner loop
    assert found[-1] == 9
    assert found[:2] == [0, 1]
    for block, then in graph.items():  # only edges back to a header lead back
        assert all(found.index(block) < found.index(to) for to in then if (block, to) not in BACK)


BACK = {(3, 2), (7, 1)}


def test_what_cannot_be_reached_has_a_place() -> None:
    assert set(order({0: [2], 1: [2], 2: []})) == {0, 1, 2}


class Blocks:
    """How many blocks are walked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.walked = 0
        walk = Walk._block

        def block(this: Walk, *args: Any) -> None:
            self.walked += 1
            walk(this, *args)

        monkeypatch.setattr(Walk, "_block", block)


def gemm(name: str, *, in_pairs: bool = False, **sizes: int) -> Any:
    """What counts a GEMM of so many rows, columns and so deep."""
    how = pipeline(target(name))
    if "tile-form-pairs" in how.names and not in_pairs:
        how = how.replaced("tile-form-pairs", "tile-form-pairs{enabled=false}")
        one = "tile-place-accumulators{accumulators=1}"
        how = how.replaced("tile-place-accumulators", one)
    kernel = runpy.run_path(str(EXAMPLES / "gemm.py"))["gemm"].using(target=name, pipeline=how)
    m, n, k = sizes["m"], sizes["n"], sizes["k"]
    arrays = [np.zeros((m, k), np.float16), np.zeros((k, n), np.float16), np.zeros((m, n), "f4")]
    compiled = kernel.compile(*arrays)
    (entry,) = compiled.kernels
    module = read(compiled.ptx)
    grid = (-(-n // 128), -(-m // 128), 1)
    launch = plain_launch(entry, module.functions[entry.name], arrays, grid, 8)
    return lambda: count(module, entry.name, launch)


def same(left: Counts, walked: Counts) -> None:
    """Instructions are the same; of what is touched a sample was looked at."""
    assert left.instructions == pytest.approx(walked.instructions)
    assert left.matrix == pytest.approx(walked.matrix)
    for name in ("sectors", "wavefronts", "copied", "operand_bytes"):
        assert getattr(left, name) == pytest.approx(getattr(walked, name), rel=0.05), name


@pytest.mark.parametrize(
    ("name", "in_pairs"),
    [("sm_80", False), ("sm_90a", False), ("sm_100a", False), ("sm_100a", True)],
)
def test_rounds_that_are_left_out_are_counted(
    name: str, in_pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A walk of all rounds finds as much: of a ring of stages, roles, and tiles one by one."""
    counted = gemm(name, in_pairs=in_pairs, m=640, n=768, k=3208)
    blocks = Blocks(monkeypatch)
    left, fewer = counted(), blocks.walked
    monkeypatch.setattr(Loops, "returned", lambda *_: None)
    same(left, counted())
    assert fewer < (blocks.walked - fewer) / (1 if in_pairs else 2)


LOOP = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n) {
  .reg .pred %p<9>; .reg .b32 %r<9>;
  ld.param.u32 %r1, [n]; mov.u32 %r2, FIRST; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, %tid.x;
LOOP:
  INSIDE
  add.u32 %r2, %r2, STEP; setp.COMPARE %p1, %r2, %r1;
  @%p1 bra LOOP;
  ret;
}
"""
PLAIN = "neg.s32 %r6, %r6;"
RARELY = """shr.u32 %r6, %r2, 6; and.b32 %r6, %r6, 1; setp.ne.u32 %p2, %r6, 0;
  @%p2 bra ON; neg.s32 %r7, %r7; ON:"""
IN_A_RING = """add.u32 %r3, %r3, 1; setp.eq.u32 %p2, %r3, 3; selp.u32 %r3, 0, %r3, %p2;
  @!%p2 bra ON; neg.s32 %r7, %r7; ON:"""
ONCE = "setp.ne.u32 %p2, %r2, 500; @%p2 bra ON; neg.s32 %r7, %r7; ON:"
BY_LANE = "mul.lo.u32 %r4, %r5, 20; setp.lt.u32 %p2, %r2, %r4; @%p2 bra ON; neg.s32 %r7, %r7; ON:"


@pytest.mark.parametrize(
    ("first", "step", "compare", "inside", "rounds", "negations"),
    [
        (0, 1, "lt.u32", PLAIN, 1000, 1000),
        (0, 1, "ne.u32", PLAIN, 1000, 1000),
        (0, 3, "lt.s32", PLAIN, 334, 334),
        (2000, -1, "gt.s32", PLAIN, 1000, 1000),
        (-500, 1, "lt.s32", PLAIN, 1500, 1500),
        (0, 1, "lt.u32", RARELY, 1000, sum(not n >> 6 & 1 for n in range(1000))),
        (0, 1, "lt.u32", IN_A_RING, 1000, 333),
        (0, 1, "lt.u32", ONCE, 1000, 1),
        (0, 1, "lt.u32", BY_LANE, 1000, 1000),  # the first lane all the time, others with it later
    ],
    ids=["up", "to equality", "by threes", "down", "signed", "rarely", "ring", "once", "by lane"],
)
def test_a_loop_by_hand(
    first: int, step: int, compare: str, inside: str, rounds: int, negations: int
) -> None:
    """As many rounds, and of each way as many, as arithmetic says."""
    text = LOOP.replace("INSIDE", inside).replace("FIRST", str(first)).replace("STEP", str(step))
    module = read(text.replace("COMPARE", compare))
    launch = plain(module.functions["k"], [1000], (1, 1, 1), (32, 1, 1))
    found = Counter(count(module, "k", launch).instructions)
    assert found["neg"] == negations
    branches = found["bra"] - (rounds if inside != PLAIN else 0)
    assert branches == rounds


LOOP_FROM_ITS_HEADER = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n) {
  .reg .pred %p<9>; .reg .b32 %r<9>;
  ld.param.u32 %r1, [n]; mov.u32 %r2, 0; mov.u32 %r3, 0;
LOOP:
  setp.ge.s32 %p1, %r2, %r1;
  @%p1 bra END;
  add.s32 %r3, %r3, 1; setp.eq.b32 %p2, %r3, 6; selp.b32 %r3, 0, %r3, %p2; @%p2 bra ON;
  neg.s32 %r7, %r7;
ON:
  add.s32 %r2, %r2, 64;
  bra LOOP;
END:
  ret;
}
"""


@pytest.mark.parametrize("bound", range(2300, 3300, 60))
def test_a_loop_ends_where_its_header_says(bound: int) -> None:
    """A comparison that has just come out otherwise is not left out with the rounds before it."""
    module = read(LOOP_FROM_ITS_HEADER)
    launch = plain(module.functions["k"], [bound], (1, 1, 1), (32, 1, 1))
    found = Counter(count(module, "k", launch).instructions)
    rounds = -(-bound // 64)
    assert found["add"] == 2 * rounds
    assert found["neg"] == rounds - rounds // 6
