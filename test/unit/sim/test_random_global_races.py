"""Random kernels on global memory against every pair of their accesses, one thread at a time.

A kernel is a list of accesses (loads, stores, atomics of 1 to 16 bytes at random places, by random
threads) and barriers (of the CTA, of half of it, of each warp). Clocks of single threads say which
pairs are ordered. The simulator must report a race exactly where two unordered accesses of
different threads meet in a byte, one of them a plain write; where stores repeat a value, it may be
silent about stores of the same value, and must not be where another order gives another result.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from tilec.sim import Report, launch

THREADS, BYTES = 64, 64
HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 table, .param .u64 out)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %h<9>;
  ld.param.u64 %rd1, [memory]; ld.param.u64 %rd2, [table]; ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8; add.s64 %rd2, %rd2, %rd4;
  shr.u32 %r2, %r1, 5; add.u32 %r2, %r2, 1; mul.wide.u32 %rd5, %r1, 16; add.s64 %rd3, %rd3, %rd5;
"""
TEXTS = {
    ("load", 1): "ld.global.u8 %r9, [%rd9];",
    ("load", 2): "ld.global.u16 %r9, [%rd9];",
    ("load", 4): "ld.global.u32 %r9, [%rd9];",
    ("load", 8): "ld.global.u64 %rd10, [%rd9];",
    ("load", 16): "ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd9];",
    ("store", 1): "st.global.u8 [%rd9], %r8;",
    ("store", 2): "cvt.u16.u32 %h1, %r8; st.global.u16 [%rd9], %h1;",
    ("store", 4): "st.global.u32 [%rd9], %r8;",
    ("store", 8): "st.global.v2.u32 [%rd9], {%r8, %r8};",
    ("store", 16): "st.global.v4.u32 [%rd9], {%r8, %r8, %r8, %r8};",
    ("atomic", 4): "red.global.xor.b32 [%rd9], %r8;",
    ("atomic", 8): "cvt.u64.u32 %rd10, %r8; red.global.xor.b64 [%rd9], %rd10;",
}
BARRIERS = {
    "all": ("bar.sync 0;", THREADS),
    "half": ("barrier.sync %r2, 32;", 32),
    "warp": ("bar.warp.sync -1;", 32),
}


@dataclass(frozen=True)
class Access:
    """What some threads do at once: place and value of each, by thread."""

    kind: str
    size: int
    offsets: dict[int, int]
    values: dict[int, int]


Program = list[Access | str]


def program(seed: int, values: int, *, atomics: bool) -> Program:
    """A random one; stores have one of so many values."""
    rng = random.Random(seed)
    kinds = [kind for kind in TEXTS if atomics or kind[0] != "atomic"]
    found: Program = []
    for _ in range(rng.randint(3, 8)):
        if rng.random() < 0.4:
            found.append(rng.choice(list(BARRIERS)))
            continue
        kind, size = rng.choice(kinds)
        count = rng.choice((1, 2, 2, 3, 5))
        threads = sorted(rng.sample(range(THREADS), count))
        if rng.random() < 0.2:
            threads = list(range(4))
        slots = rng.sample(range(BYTES // size), 1 if size == 16 else rng.choice((1, 2, 3)))
        offsets = {t: size * rng.choice(slots) for t in threads}
        if rng.random() < 0.3:
            offsets = dict.fromkeys(threads, size * slots[0])
        given = {t: rng.randrange(1, values + 1) for t in threads}
        if kind == "store" and rng.random() < 0.5:
            given = dict.fromkeys(threads, given[threads[0]])
        found.append(Access(kind, size, offsets, given))
    return found


def run(steps: Program, order: int | None) -> tuple[Report, dict[int, int]]:
    """The report, and the step of each line."""
    table = np.zeros((2 * len(steps), THREADS), np.int64)
    text = [HEAD]
    for number, step in enumerate(steps):
        if isinstance(step, str):
            text.append(BARRIERS[step][0])
            continue
        table[2 * number] = -1
        for thread, offset in step.offsets.items():
            table[2 * number, thread] = offset
            table[2 * number + 1, thread] = step.values[thread]
        row = 8 * THREADS
        text.append(
            f"ld.global.u64 %rd8, [%rd2+{2 * number * row}]; ld.global.u32 %r8, "
            f"[%rd2+{(2 * number + 1) * row}]; setp.lt.s64 %p1, %rd8, 0; @%p1 bra L{number};\n"
            f"add.s64 %rd9, %rd1, %rd8; {TEXTS[step.kind, step.size]} // step {number}\n"
            f"L{number}:"
        )
    text.append("ret; }\n")
    lines = {
        line: int(words.partition("// step ")[2])
        for line, words in enumerate("\n".join(text).splitlines(), 1)
        if "// step " in words
    }
    memory = np.zeros(BYTES, np.uint8)
    report = launch("\n".join(text), "k", 1, THREADS,
                    [memory, table, np.zeros(1, np.int64)], order=order)  # fmt: skip
    return report, lines


def content(step: Access, thread: int) -> bytes:
    """What a store writes."""
    value = step.values[thread].to_bytes(4, "little")
    return value[: step.size] if step.size < 4 else value * (step.size // 4)


def clocks(steps: Program) -> Iterator[tuple[int, np.ndarray]]:
    """Each access with what its threads have seen, (threads, threads), in steps before which.

    Atomics are taken to publish all that their warps have done, and to see what was published.
    """
    seen = np.zeros((THREADS, THREADS), np.int64)
    published = np.zeros(THREADS, np.int64)
    for number, step in enumerate(steps):
        if isinstance(step, str):
            size = BARRIERS[step][1]
            for first in range(0, THREADS, size):
                group = slice(first, first + size)
                joined = seen[group].max(axis=0)
                joined[group] = number
                seen[group] = joined
            continue
        warps = np.isin(np.arange(THREADS) // 32, [t // 32 for t in step.offsets])
        if step.kind == "atomic":
            seen[warps] = np.maximum(seen[warps], published)
        yield number, seen.copy()
        if step.kind == "atomic":
            published = np.maximum(published, seen[warps].max(axis=0))
            published[warps] = number + 1


def races(steps: Program, *, same_values: bool) -> set[int]:
    """The steps that come second in a race; stores of the same value count if told."""
    touched: list[tuple[int, int, int, Access]] = []
    found = set()
    for number, seen in clocks(steps):
        step = steps[number]
        assert isinstance(step, Access)
        for thread, offset in step.offsets.items():
            for byte in range(step.size):
                mine = (number, thread, offset + byte, step)
                if any(conflict(other, mine, seen, same_values) for other in touched):
                    found.add(number)
                touched.append(mine)
    return found


def conflict(
    one: tuple[int, int, int, Access],
    two: tuple[int, int, int, Access],
    seen: np.ndarray,
    same_values: bool,
) -> bool:
    """Whether two threads' accesses to a byte race."""
    (number, thread, byte, step), (_, thread2, byte2, step2) = one, two
    kinds = {step.kind, step2.kind}
    if byte != byte2 or thread == thread2 or kinds in ({"load"}, {"atomic"}):
        return False
    if number < seen[thread2, thread]:
        return False
    if kinds == {"store"} and not same_values:
        first = content(step, thread)[byte - step.offsets[thread]]
        return first != content(step2, thread2)[byte - step2.offsets[thread2]]
    return True


@pytest.mark.parametrize("batch", range(8))
def test_every_pair(batch: int) -> None:
    """All values differ."""
    outcomes = []
    for seed in range(1000 * batch, 1000 * batch + 20):
        steps = distinct(program(seed, 1 << 30, atomics=seed % 2 == 0))
        expected = races(steps, same_values=True)
        report, lines = run(steps, None)
        assert {f.kind for f in report.findings} <= {"race"}
        found = {lines[f.line] for f in report.findings}
        assert found <= expected, seed
        assert bool(found) == bool(expected), seed
        if seed % 2:  # the order of atomics is one of what they order
            assert bool(run(steps, seed)[0].findings) == bool(expected), seed
        outcomes.append(bool(expected))
    assert 2 < sum(outcomes) < 18


def distinct(steps: Program) -> Program:
    """The same with another value, in every byte, for every store of every thread."""
    number = iter(range(1, 256))
    return [
        s if isinstance(s, str) else
        Access(s.kind, s.size, s.offsets, {t: next(number) * 0x01010101 for t in s.values})
        for s in steps
    ]  # fmt: skip


@pytest.mark.parametrize("batch", range(8))
def test_repeated_values(batch: int) -> None:
    """No finding without a race; one wherever another order shows."""
    outcomes = []
    for seed in range(1000 * batch + 500, 1000 * batch + 520):
        steps = program(seed, 2, atomics=False)
        found = bool(run(steps, None)[0].findings)
        if found:
            assert races(steps, same_values=False), seed
        elif races(steps, same_values=False):
            results = {outcome(steps, random.Random(n)) for n in range(60)}
            assert len(results) == 1, seed
        outcomes.append(found)
    assert 2 < sum(outcomes) < 18


def outcome(steps: Program, rng: random.Random) -> tuple[bytes, ...]:
    """What memory holds in the end, and what threads have loaded, in one order of the threads."""
    memory = bytearray(BYTES)
    loaded: list[list[bytes]] = [[] for _ in range(THREADS)]
    at = [0] * THREADS
    ready = list(range(THREADS))
    while ready:
        thread = rng.choice(ready)
        for _ in range(rng.choice((1, 2, 99))):
            if at[thread] == len(steps) or isinstance(steps[at[thread]], str):
                break
            step = steps[at[thread]]
            assert isinstance(step, Access)
            if thread in step.offsets:
                perform(step, thread, memory, loaded[thread])
            at[thread] += 1
        release(steps, at)
        ready = [
            t for t in range(THREADS) if at[t] < len(steps) and not isinstance(steps[at[t]], str)
        ]
    return (bytes(memory), *(b"".join(values) for values in loaded))


def perform(step: Access, thread: int, memory: bytearray, loaded: list[bytes]) -> None:
    """One access of one thread."""
    place = slice(step.offsets[thread], step.offsets[thread] + step.size)
    if step.kind == "load":
        loaded.append(bytes(memory[place]))
    elif step.kind == "store":
        memory[place] = content(step, thread)
    else:
        value = step.values[thread].to_bytes(step.size, "little")
        memory[place] = bytes(a ^ b for a, b in zip(memory[place], value, strict=True))


def release(steps: Program, at: list[int]) -> None:
    """Let those go on who have all come to their barrier."""
    moved = True
    while moved:
        moved = False
        for name, (_, size) in BARRIERS.items():
            for first in range(0, THREADS, size):
                group = range(first, first + size)
                where = {at[t] for t in group}
                if len(where) == 1 and (place := where.pop()) < len(steps) and steps[place] == name:
                    for thread in group:
                        at[thread] += 1
                    moved = True
