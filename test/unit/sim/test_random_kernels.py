"""Random kernels: the race check finds each missing barrier and makes none up; branches diverge.

Each kernel passes values around through shared memory in phases, by random permutations, with
a barrier between any two accesses that need one. It must be free of findings and compute what
numpy computes; with one barrier left out, it must race. Random structured programs of branches
and loops are compared with an interpreter that runs one thread at a time.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from tilec.sim import Report, launch

THREADS = 128
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 table)
{
  .reg .pred %p<40>; .reg .b32 %r<40>; .reg .b64 %rd<9>;
  .shared .align 4 .b8 slots[512];
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [table];
  mov.u32 %r1, %tid.x; mov.u32 %r2, slots; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r1;
  mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
  add.u32 %r10, %r5, 100;
"""


def permutation(rng: np.random.Generator, group: int) -> np.ndarray:
    """A random permutation that moves every thread, within groups of so many."""
    while True:
        blocks = [rng.permutation(group) + base for base in range(0, THREADS, group)]
        found = np.concatenate(blocks)
        if (found != np.arange(THREADS)).all():
            return found


def passing(
    seed: int, group: int, ctas: int, leave_out: int | None, order: int | None = None
) -> tuple[Report, bool]:
    """Run a kernel of four phases; whether its result is right."""
    rng = np.random.default_rng(seed)
    barrier = "bar.warp.sync -1;" if group == 32 else "bar.sync 0;"
    phases = [(permutation(rng, group), permutation(rng, group)) for _ in range(4)]
    table = np.zeros((8, ctas, THREADS), np.uint32)
    values = np.arange(ctas * THREADS).reshape(ctas, THREADS) + 100
    body, number = [], 0
    for phase, (to, from_) in enumerate(phases):
        for row, places, access in (
            (2 * phase, to, "st.shared.u32 [%r11], %r10;"),
            (2 * phase + 1, from_, "ld.shared.u32 %r12, [%r11]; add.u32 %r10, %r12, %r10;"),
        ):
            table[row] = 4 * places
            body.append(f"  ld.global.u32 %r11, [%rd2+{row * ctas * THREADS * 4}];")
            body.append(f"  add.u32 %r11, %r11, %r2; {access}")
            if number != leave_out:
                body.append(f"  {barrier}")
            number += 1
        written = np.empty_like(values)
        written[:, to] = values
        values = written[:, from_] + values
    text = HEAD + "\n".join(body) + "\n  st.global.u32 [%rd4], %r10;\n  ret;\n}\n"
    out = np.zeros((ctas, THREADS), np.uint32)
    report = launch(text, "k", ctas, THREADS, [out, table], order=order)
    return report, np.array_equal(out, values.astype(np.uint32))


@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("seed", range(6))
def test_barriers_where_they_are_needed(seed: int, group: int) -> None:
    for order in (None, seed):
        report, right = passing(seed, group, 1 + seed % 3, None, order)
        assert report.ok, report.findings
        assert right


@pytest.mark.parametrize("group", [32, 128])
@pytest.mark.parametrize("left_out", range(7))
def test_a_missing_barrier_is_a_race(left_out: int, group: int) -> None:
    for order in (None, left_out):
        report, _ = passing(left_out, group, 2, left_out, order)
        assert {f.kind for f in report.findings} <= {"race", "uninitialised"}
        assert "race" in {f.kind for f in report.findings} or left_out == 0


class Program:
    """A random structured program on %r10 and %r20 to %r23, as PTX and as Python."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.text: list[str] = []
        self.labels = 0
        self.python = ["def thread(t):", "    r = [t + 100, t, t * 7, 3]"]
        self.block(3, 1)
        self.python.append("    return r")

    def emit(self, ptx: str, python: str, indent: int) -> None:
        self.text.append(ptx)
        self.python.append("    " * indent + python)

    def statement(self, indent: int) -> None:
        a, b, c = (self.rng.randrange(4) for _ in range(3))
        op, sign = self.rng.choice([("add", "+"), ("sub", "-"), ("xor", "^"), ("and", "&")])
        type_ = "b32" if op in ("xor", "and") else "u32"
        self.emit(
            f"{op}.{type_} %r{20 + a}, %r{20 + b}, %r{20 + c};",
            f"r[{a}] = (r[{b}] {sign} r[{c}]) & 0xffffffff",
            indent,
        )

    def block(self, depth: int, indent: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if depth == 0 or kind < 0.3:
                self.statement(indent)
            elif kind < 0.7:
                self.branch(depth, indent)
            else:
                self.loop(depth, indent)

    def condition(self) -> tuple[str, str]:
        a, mask = self.rng.randrange(4), self.rng.choice([1, 2, 4, 5, 16])
        value = self.rng.choice([0, mask])
        self.text.append(f"and.b32 %r30, %r{20 + a}, {mask}; setp.eq.u32 %p1, %r30, {value};")
        return "%p1", f"(r[{a}] & {mask}) == {value}"

    def branch(self, depth: int, indent: int) -> None:
        self.labels += 1
        name = f"L{self.labels}"
        guard, test = self.condition()
        self.emit(f"@!{guard} bra {name}_else;", f"if {test}:", indent)
        self.block(depth - 1, indent + 1)
        self.text.append(f"bra {name}_end;")
        self.emit(f"{name}_else:", "else:", indent)
        self.block(depth - 1, indent + 1)
        self.text.append(f"{name}_end:")

    def loop(self, depth: int, indent: int) -> None:
        """A loop of up to 5 turns, a number that differs by thread, with a way out inside."""
        self.labels += 1
        name, counter = f"L{self.labels}", f"%n{self.labels}"
        a = self.rng.randrange(4)
        self.text.append(f".reg .b32 {counter}; and.b32 {counter}, %r{20 + a}, 3;")
        self.python.append("    " * indent + f"for _ in range((r[{a}] & 3) + 1):")
        self.text.append(f"{name}_loop:")
        self.block(depth - 1, indent + 1)
        guard, test = self.condition()
        self.emit(f"@{guard} bra {name}_out;", f"if {test}: break", indent + 1)
        self.text.append(
            f"setp.eq.u32 %p2, {counter}, 0; sub.u32 {counter}, {counter}, 1;\n"
            f"@!%p2 bra {name}_loop;\n{name}_out:"
        )


@pytest.mark.parametrize("seed", range(60))
def test_divergent_programs(seed: int) -> None:
    program = Program(seed)
    first = "add.u32 %r20, %r5, 100; mov.u32 %r21, %r5; mul.lo.u32 %r22, %r5, 7; mov.u32 %r23, 3;"
    last = [f"st.global.u32 [%rd4+{4 * 256 * n}], %r{20 + n};" for n in range(4)]
    text = HEAD + "\n".join([first, *program.text, *last]) + "\nret;\n}\n"
    out, again = np.zeros((4, 256), np.uint32), np.zeros((4, 256), np.uint32)
    launch(text, "k", 2, THREADS, [out, None]).require_ok()
    launch(text, "k", 2, THREADS, [again, None], order=seed).require_ok()
    scope: dict[str, object] = {}
    exec("\n".join(program.python), scope)
    expected = [scope["thread"](t) for t in range(256)]  # type: ignore[operator]
    assert np.array_equal(out.T, np.array(expected, np.uint32))
    assert np.array_equal(out, again)
