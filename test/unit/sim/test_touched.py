"""Which bytes CTAs have touched, off the epochs of races, against the addresses that they had."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import read
from tilec.sim.checks.owners import joined
from tilec.sim.native import choice
from tilec.sim.run import Run
from tilec.sim.touched import overlap, touched

CTAS, THREADS, BYTES = 6, 64, 16384
PTX = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u64 d)
{{
 .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %h<9>;
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [d];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, {threads}, %r1;
 mul.wide.u32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4;
 ld.global.u32 %r4, [%rd5]; ld.global.u32 %r5, [%rd6];
 cvt.u64.u32 %rd7, %r4; add.s64 %rd7, %rd7, %rd3; cvt.u64.u32 %rd8, %r5; add.s64 %rd8, %rd8, %rd3;
 {body}
 ret;
}}
"""
LOADS = {
    1: "ld.global.u8 %h1, [%rd7];",
    4: "ld.global.u32 %r6, [%rd7];",
    16: "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7];",
}
STORES = {
    2: "st.global.u16 [%rd8], %h2;",
    4: "red.global.add.u32 [%rd8], %r1;",
    8: "st.global.v2.u32 [%rd8], {%r1, %r2};",
}


def _bytes(spans: np.ndarray, first: int) -> set[int]:
    return {byte for start, end in (spans - first).tolist() for byte in range(start, end)}


@pytest.mark.parametrize("engine", choice.ENGINES)
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("store", STORES)
def test_against_the_addresses(
    engine: str, load: int, store: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(choice.VARIABLE, engine)
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)
    monkeypatch.setattr("tilec.sim.residency.WAVE_THREADS", 2 * THREADS)
    rng = np.random.default_rng(100 * load + store)
    body = "mov.u16 %h2, 7;" + LOADS[load] + STORES[store]
    # Some warps touch bytes that follow each other, others here and there.
    offsets = []
    for size in (load, store):
        drawn = rng.integers(BYTES // size, size=(CTAS * 2, 32))
        row = rng.integers(BYTES // size // 32, size=CTAS) * 32
        drawn[::2] = row[:, None] + np.arange(32)
        offsets.append((drawn * size).astype(np.uint32).reshape(-1))
    for one in offsets:
        one.flags.writeable = False
    text = PTX.format(threads=THREADS, body=body)
    run = Run(read(text), "k", CTAS, THREADS, [*offsets, np.zeros(BYTES, np.uint8)])
    run.simulate(None)
    observer = run.machine.observer
    assert observer is not None
    found = touched(observer.global_)
    (start,) = found.epochs
    read_, written = (
        {int(at) + byte for at in one for byte in range(size)}
        for one, size in zip(offsets, (load, store), strict=True)
    )
    assert _bytes(found.written, start) == written
    assert read_ - written <= _bytes(found.read, start) <= read_
    assert sum(one.bytes for one in found.epochs.values()) == run.race_bytes
    assert not found.unknown


def test_spans() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        sets, spans = [], []
        for _ in range(2):
            first = rng.integers(60, size=rng.integers(0, 8))
            drawn = np.stack([first, first + rng.integers(1, 6, size=first.shape)], axis=1)
            sets.append(_bytes(drawn, 0))
            spans.append(joined(drawn))
            assert _bytes(spans[-1], 0) == sets[-1]
            assert (np.diff(spans[-1].reshape(-1)) > 0).all()
        both = sets[0] & sets[1]
        assert overlap(*spans) == (min(both) if both else None)
