"""Loads and stores by machine code and by numpy: equal memory, registers, counts and findings."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tilec.sim import SimulationError, launch
from tilec.sim.native import choice
from tilec.sim.native.library import library
from tilec.sim.ptx import read
from tilec.sim.run import Run
from tilec.sim.touched import touched

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

WORDS = 2048
THREADS = 64
HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
.reg .pred %p<9>; .reg .b32 %r<39>; .reg .b64 %d<29>; .reg .b16 %h<9>;
.shared .align 16 .b8 words[4096];
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r4, %r2, {threads}, %r1;
mul.lo.u32 %r3, %r1, 4; mul.wide.u32 %d5, %r4, 4; add.u64 %d3, %d1, %d5; add.u64 %d4, %d2, %d5;
mov.u32 %r5, 0; mov.u32 %r6, %r4; mov.u32 %r8, words; add.u32 %r7, %r8, %r3;
cvt.u64.u32 %d6, %r7; mov.u64 %d7, 7; cvt.u16.u32 %h1, %r4;
and.b32 %r10, %r1, 5; setp.ne.u32 %p1, %r10, 1;
mov.u32 %r20, 0; mov.u32 %r21, 1; mov.u32 %r22, 2; mov.u32 %r23, 3;
mov.u64 %d20, 0; mov.u64 %d21, 1;
again:
{body}
add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r9;
@%p2 bra again;
st.global.u32 [%d3], %r6;
ret;
}}
"""


def text(body: str, threads: int = THREADS) -> str:
    return HEAD.format(body=body, threads=threads)


def arrays(turns: int) -> list[object]:
    given = np.random.default_rng(1).integers(0, 1 << 32, 3 * WORDS, np.uint32)
    return [np.zeros(WORDS, np.uint32), given, np.uint32(turns)]


STAGED = """
ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d8];
bar.sync 0;
st.shared.v4.u32 [%r11], {%r20, %r21, %r22, %r23};
bar.sync 0;
ld.shared.u32 %r24, [%r7]; ld.shared.v2.u32 {%r25, %r26}, [%r12]; ld.shared.u32 %r27, [%r8];
add.u32 %r6, %r6, %r24; xor.b32 %r6, %r6, %r25; add.u32 %r6, %r6, %r26; xor.b32 %r6, %r6, %r27;
"""


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("threads", [64, 100])
def test_a_staged_tile(both, accesses, threads: int, *, checks: bool) -> None:
    """Global memory to shared memory to registers, by wide and narrow accesses."""
    places = """
    mul.lo.u32 %r11, %r1, 16; add.u32 %r11, %r11, words; mul.lo.u32 %r12, %r1, 8;
    add.u32 %r12, %r12, words; mul.wide.u32 %d8, %r1, 16; add.u64 %d8, %d8, %d2;
    """
    ptx = text(places + STAGED, threads)
    _, report, _ = both(ptx, "k", 5, threads, given=arrays(5), checks=checks)
    assert report.ok
    assert sum(accesses) > 0.9 * len(accesses) > 10


WRONG = {
    "out-of-bounds": "shl.b32 %r11, %r3, %r5; add.u32 %r11, %r11, words; "
    "bar.sync 0; st.shared.u32 [%r11], %r6;",
    "out-of-bounds global": "mul.wide.u32 %d8, %r5, 16384; add.u64 %d8, %d8, %d4; "
    "ld.global.u32 %r6, [%d8];",
    "misaligned": "shr.u32 %r11, %r5, 2; add.u32 %r11, %r7, %r11; st.shared.u32 [%r11], %r6;",
    "misaligned global": "shr.u32 %r11, %r5, 2; cvt.u64.u32 %d8, %r11; add.u64 %d8, %d8, %d3; "
    "st.global.u32 [%d8], %r6;",
    "race": "shl.b32 %r11, %r5, 7; add.u32 %r11, %r11, %r3; and.b32 %r11, %r11, 1023; "
    "add.u32 %r11, %r11, words; st.shared.u32 [%r7], %r6; ld.shared.u32 %r6, [%r11];",
    "race of one instruction": "shr.u32 %r11, %r5, 2; shr.u32 %r11, %r3, %r11; "
    "and.b32 %r11, %r11, -4; add.u32 %r11, %r11, words; bar.sync 0; st.shared.u32 [%r11], %r4;",
    "race global": "mul.wide.u32 %d8, %r5, 128; add.u64 %d8, %d8, %d3; st.global.u32 [%d3], %r6; "
    "ld.global.u32 %r6, [%d8];",
    "uninitialised": "shl.b32 %r11, %r5, 8; add.u32 %r11, %r11, %r7; st.shared.u32 [%r7], %r6; "
    "ld.shared.u32 %r6, [%r11];",
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("ctas", [1, 3])
def test_findings(both, accesses, name: str, ctas: int) -> None:
    """Accesses that are right for some turns, and then wrong."""
    given = arrays(7)
    given[0] = np.zeros(ctas * THREADS, np.uint32)
    _, report, _ = both(text(WRONG[name]), "k", ctas, THREADS, given=given)
    assert name.split(" ", maxsplit=1)[0] in {finding.kind for finding in report.findings}
    assert any(accesses)
    assert name == "race global" or not all(accesses)


def test_same_values_are_advice(both, accesses) -> None:
    """Threads that store one value to one place in one instruction: numpy says so."""
    body = "bar.sync 0; st.shared.u32 [%r8], %r5; bar.sync 0; ld.shared.u32 %r6, [%r8];"
    _, report, _ = both(text(body), "k", 2, THREADS, given=arrays(4))
    assert [finding.kind for finding in report.advice] == ["same-value"]
    assert any(accesses)


REGISTERS = {8: ("%h1",), 16: ("%h1",), 32: ("%r20", "%r21", "%r22", "%r23"), 64: ("%d20", "%d21")}


def random_body(seed: int, spaces: tuple[str, ...] = ("shared", "shared", "global")) -> str:
    """Loads and stores of any size with any pattern, some in branches or under guards."""
    draw = random.Random(seed)
    lines = []
    for number in range(12):
        bits = draw.choice([8, 16, 32, 32, 32, 64])
        registers = REGISTERS[bits]
        count = draw.choice([n for n in (1, 2, 4) if n <= len(registers)])
        size = bits * count // 8
        # A multiple of the size below 1024, of a lane, a warp, a CTA or nobody.
        index = draw.choice(["%r1", "%r1", "%r1", "%r4", "%r10", "%r5", "%ctaid.x"])
        stride, room = draw.choice([size, size, 2 * size, 16, 4]), draw.choice([1023, 255])
        lines.append(f"mov.u32 %r11, {index}; mul.lo.u32 %r11, %r11, {stride};")
        lines.append(f"and.b32 %r11, %r11, {room & -size};")
        extra = draw.choice([0, 0, 1024 // size * size, 64])
        store = draw.random() < 0.5
        space = draw.choice(spaces)
        if space == "shared":
            lines.append("add.u32 %r11, %r11, words; cvt.u64.u32 %d8, %r11;")
            place = draw.choice([f"[%r11+{extra}]", f"[%d8+{extra}]"])
        else:
            base = "%d1" if store else draw.choice(["%d1", "%d2"])
            lines.append(f"cvt.u64.u32 %d8, %r11; add.u64 %d8, %d8, {base};")
            place = f"[%d8+{extra}]"
        vector = f".v{count}" if count > 1 else ""
        items = ", ".join(registers[:count])
        items = f"{{{items}}}" if count > 1 else items
        generic = space == "global" and draw.random() < 0.2
        name = f"{'st' if store else 'ld'}{'' if generic else '.' + space}{vector}.b{bits}"
        guard = draw.choice(["", "", "", "@%p1 ", "@!%p1 "])
        lines.append(
            f"{guard}{name} {place}, {items};" if store else f"{guard}{name} {items}, {place};"
        )
        lines += draw.choice([[], [], ["bar.sync 0;"], ["add.u32 %r6, %r6, %r20;"]])
        if draw.random() < 0.15:
            lines += [f"@%p1 bra past{number};", "ld.global.u32 %r21, [%d4];", f"past{number}:"]
    return "\n".join(lines)


SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 400))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_accesses(both, accesses, seed: int) -> None:
    body = random_body(seed)
    options = {"order": 3} if seed % 5 == 1 else {}
    for checks in (False, True):
        both(text(body), "k", 3, THREADS, given=arrays(5), checks=checks, **options)
    assert any(accesses)


BASE = 0x7F00_0000_0000
"""Where global memory begins."""


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("before", [4, 124])
@pytest.mark.parametrize("what", ["ld.global.u32 %r6, [%d4];", "st.global.u32 [%d4], %r6;"])
def test_addresses_that_become_negative(
    monkeypatch: pytest.MonkeyPatch, what: str, before: int, *, checks: bool
) -> None:
    """A pointer that is none, from which the lanes of a warp go on beyond 2^63."""
    monkeypatch.setattr(choice, "AFTER", 0)
    monkeypatch.setattr(choice, "WORK", 0)
    said = []
    for engine in choice.ENGINES:
        monkeypatch.setenv(choice.VARIABLE, engine)
        pointer = np.uint64(BASE + (1 << 63) - before)
        given = [np.zeros(THREADS, np.uint32), pointer, np.uint32(1)]
        try:
            said.append(launch(text(what), "k", 1, THREADS, given, checks=checks).to_text())
        except SimulationError as error:
            said.append(str(error))
    assert "no allocation" in said[0] if checks else "outside every allocation" in said[0]
    assert said[0] == said[1]


@pytest.fixture
def bytes_of(monkeypatch: pytest.MonkeyPatch, accesses):
    """The bytes of global memory that are read, and written; both engines must agree."""
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)

    def run(ptx: str, given: list[object], arch: str | None = None) -> list[list[int]]:
        found = []
        for name in choice.ENGINES:
            monkeypatch.setenv(choice.VARIABLE, name)
            arrays = [np.copy(a) if isinstance(a, np.ndarray) else a for a in given]
            arrays[1].setflags(write=given[1].flags.writeable)
            one = Run(read(ptx), "k", 3, THREADS, arrays, arch=arch, resident=2)
            one.simulate(None)
            assert one.machine.observer is not None
            what = touched(one.machine.observer.global_)
            spans = (what.read.tolist(), what.written.tolist())
            found.append([[n for span in each for n in range(*span)] for each in spans])
        assert found[0] == found[1]
        return found[1]

    return run


@pytest.mark.parametrize("const", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_bytes_that_are_touched(bytes_of, accesses, count: int, *, const: bool) -> None:
    """Each thread's own, of those that a guard lets; nothing of what nobody may write."""
    items = ", ".join(f"%r{20 + n}" for n in range(count))
    kind, items = (f".v{count}", f"{{{items}}}") if count > 1 else ("", items)
    body = f"""
    mul.wide.u32 %d8, %r4, {4 * count}; add.u64 %d9, %d8, %d2; add.u64 %d10, %d8, %d1;
    ld.global{kind}.b32 {items}, [%d9]; @%p1 st.global{kind}.b32 [%d10], {items};
    """
    ptx = text(body).replace(".version 8.0\n.target sm_80", ".version 8.8\n.target sm_100a")
    ptx = ptx.replace("st.global.u32 [%d3], %r6;", "")
    given = arrays(5)
    given[1].setflags(write=not const)
    reads, writes = bytes_of(ptx, given)
    assert sum(accesses) > 6
    size, threads = 4 * count, np.arange(3 * THREADS)
    stored = np.flatnonzero(np.repeat((threads % THREADS & 5) != 1, size))
    assert writes == (writes[0] - stored[0] + stored).tolist()
    if const:
        assert not reads
    else:
        assert reads == list(range(reads[0], reads[0] + threads.size * size))


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 300))]
)
def test_random_bytes(bytes_of, accesses, seed: int) -> None:
    given = arrays(7)
    given[1].setflags(write=seed % 2 == 0)
    _, writes = bytes_of(text(random_body(seed, ("global",))), given)
    assert writes
    assert sum(accesses) > 8


def test_what_ctas_have_in_common(monkeypatch: pytest.MonkeyPatch, accesses) -> None:
    """Places in shared memory that are the same in all CTAs are looked at once, for all of them."""
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)
    monkeypatch.setenv(choice.VARIABLE, "native")
    monkeypatch.setattr("tilec.sim.residency.WAVE_THREADS", 4 * THREADS)
    body = "mul.lo.u32 %r11, %r1, 4; xor.b32 %r6, %r6, %r4; add.u32 %r11, %r11, words;"
    body += "st.shared.u32 [%r11], %r6; ld.shared.u32 %r6, [%r11];"
    one = Run(read(text(body).replace("@%p2 bra again;", "")), "k", 24, THREADS, arrays(1))
    one.simulate(None)
    assert one.waves == 6
    assert any(accesses)
    assert one.machine.observer is not None
    assert one.machine.observer.progress.ctas == 1
