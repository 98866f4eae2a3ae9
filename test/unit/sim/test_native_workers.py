"""Products that several threads compute: the bits, counts and findings of numpy alone."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from tilec.sim import LaunchError, chains, launch
from tilec.sim.native import choice, workers
from tilec.sim.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

THREADS, CTAS = 64, 24
HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
.reg .pred %p<4>; .reg .b32 %r<64>; .reg .b64 %d<9>; .reg .f32 %f<32>;
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, {threads}, %r2;
mul.wide.u32 %d3, %r4, 64; add.u64 %d4, %d2, %d3; add.u64 %d5, %d1, %d3;
ld.global.v4.u32 {{%r10, %r11, %r12, %r13}}, [%d4];
ld.global.v4.u32 {{%r14, %r15, %r16, %r17}}, [%d4+16];
ld.global.v4.u32 {{%r18, %r19, %r20, %r21}}, [%d4+32];
setp.gt.u32 %p2, %r2, 31; setp.eq.u32 %p3, %r1, 0;
{zeros}
mov.u32 %r5, 0;
again:
{body}
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1;
@%p1 bra again;
st.global.v4.f32 [%d5], {{%f0, %f1, %f2, %f3}};
st.global.v4.f32 [%d5+16], {{%f4, %f5, %f6, %f7}};
st.global.v4.f32 [%d5+32], {{%f8, %f9, %f10, %f11}};
ret;
}}
"""
ZEROS = " ".join(f"mov.f32 %f{n}, 0f00000000;" for n in range(16))


def product(d: int, a: int, b: int, c: int, guard: str = "") -> str:
    """An `mma` of registers that begin with these numbers."""
    parts = [", ".join(f"%{kind}{first + n}" for n in range(count)) for kind, first, count in (
        ("f", d, 4), ("r", a, 4), ("r", b, 2), ("f", c, 4)
    )]  # fmt: skip
    what = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    return f"{guard}{what} {{{parts[0]}}}, {{{parts[1]}}}, {{{parts[2]}}}, {{{parts[3]}}};\n"


def operands(seed: int, *, wild: bool) -> np.ndarray:
    """Halves between -2 and 2; if wild, some are infinite or no numbers."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-2, 2, (CTAS * THREADS, 32)).astype(np.float16)
    if wild:
        values[rng.random(values.shape) < 1e-3] = np.inf
        values[rng.random(values.shape) < 1e-4] = np.nan
    return values.view(np.uint32)


def text(body: str) -> str:
    return HEAD.format(body=body, threads=THREADS, zeros=ZEROS)


def compare(monkeypatch: pytest.MonkeyPatch, body: str, given: np.ndarray, turns: int = 3) -> int:
    """Launch by numpy and by 1, 2 and 3 threads; how many products others were given."""
    put: list[bool] = []
    queue = workers.Workers.put
    monkeypatch.setattr(choice, "WORK", 0)
    monkeypatch.setattr(chains, "AT_ONCE", 2)
    monkeypatch.setattr(
        workers.Workers,
        "put",
        lambda self, *rest: put.append((found := queue(self, *rest)) is not None) or found,
    )
    expected = None
    for engine, threads in (("numpy", 1), ("native", 1), ("native", 2), ("native", 3)):
        monkeypatch.setenv(choice.VARIABLE, engine)
        monkeypatch.setenv(choice.THREADS, str(threads))
        before = len(put)
        out = np.zeros((CTAS * THREADS, 16), np.float32)
        report = launch(text(body), "k", CTAS, THREADS, [out, given, np.uint32(turns)])
        found = out.tobytes(), asdict(report)
        expected = expected or found
        assert found == expected, (engine, threads)
        assert threads > 1 or len(put) == before
    return sum(put)


SEVERAL = "".join(product(4 * n, 10, 14 + 2 * n, 4 * n) for n in range(4))
BODIES = {
    "apart": SEVERAL,
    "twice": SEVERAL + SEVERAL,
    "one after the other": product(0, 10, 14, 0) + product(4, 10, 16, 0) + product(0, 10, 18, 4),
    "of what was computed": SEVERAL
    + "mov.b32 %r10, %f0; and.b32 %r10, %r10, 0x3FFF3FFF;"
    + product(0, 10, 14, 4)
    + product(4, 10, 16, 0),
    "guarded": product(0, 10, 14, 0) + product(4, 10, 16, 4) + product(8, 10, 18, 8, "@%p3 "),
    "in some warps": SEVERAL + product(4, 10, 16, 4, "@%p2 ") + product(8, 10, 18, 8),
    "of two kinds": SEVERAL + "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
    "{%r40, %r41, %r42, %r43}, {%r10, %r11}, {%r14}, {%r18, %r19, %r20, %r21};\n"
    "xor.b32 %r10, %r10, %r40; mov.b32 %r11, %f1; and.b32 %r11, %r11, 0x3FFF3FFF;",
    "undefined": product(0, 10, 14, 0) + product(4, 10, 40, 4) + product(8, 10, 18, 8),
}


@pytest.mark.parametrize("wild", [False, True])
@pytest.mark.parametrize("name", BODIES)
def test_products(monkeypatch: pytest.MonkeyPatch, name: str, *, wild: bool) -> None:
    assert CTAS * THREADS // 32 > choice.FEWEST
    put = compare(monkeypatch, BODIES[name], operands(1, wild=wild))
    assert put or name == "one after the other"  # where each reads what the one before has computed


def random_body(seed: int) -> str:
    """Chains of products in any order, some under guards, and moves between them."""
    draw = random.Random(seed)
    body = ""
    for _ in range(20):
        if draw.random() < 0.15:
            body += f"mov.b32 %r{draw.randrange(10, 20)}, %r{draw.randrange(10, 20)};\n"
        d, c = (4 * draw.randrange(4) for _ in range(2))
        guard = draw.choice(["", "", "", "@%p2 ", "@%p3 "])
        body += product(d, draw.randrange(10, 16), draw.randrange(10, 20), c, guard)
    return body


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_products(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    compare(monkeypatch, random_body(seed), operands(seed, wild=seed % 2 > 0))


def test_a_launch_that_is_interrupted_leaves_no_products(monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[workers.Workers] = []
    queue = workers.Workers.put

    def interrupted(self: workers.Workers, *rest: Any) -> np.ndarray:
        if len(self._waiting) == 2:
            put.append(self)
            raise KeyboardInterrupt
        return queue(self, *rest)

    monkeypatch.setattr(choice, "WORK", 0)
    monkeypatch.setattr(chains, "AT_ONCE", 2)
    monkeypatch.setattr(workers.Workers, "put", interrupted)
    monkeypatch.setenv(choice.VARIABLE, "native")
    monkeypatch.setenv(choice.THREADS, "2")
    out = np.zeros((CTAS * THREADS, 16), np.float32)
    with pytest.raises(KeyboardInterrupt):
        launch(text(SEVERAL), "k", CTAS, THREADS, [out, operands(1, wild=False), np.uint32(3)])
    assert not put[0]._waiting
    assert put[0]._owner == 0


def test_more_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SLOTS", 3)
    assert compare(monkeypatch, SEVERAL + SEVERAL, operands(2, wild=False))


@pytest.mark.parametrize("said", ["0", "-1", "two", "1.5", "²"])
def test_a_number_of_threads_that_is_none(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(choice.VARIABLE, "native")
    monkeypatch.setenv(choice.THREADS, said)
    out = np.zeros((CTAS * THREADS, 16), np.float32)
    with pytest.raises(LaunchError, match="legal: a number of threads, at least 1"):
        launch(text(""), "k", CTAS, THREADS, [out, operands(1, wild=False), np.uint32(1)])


def test_a_process_and_its_forks_end() -> None:
    """Also while threads look for products; the child of a fork has threads of its own."""
    code = f"""
import os, sys
sys.path.insert(0, {str(__file__).rpartition("/")[0]!r})
import numpy as np
import test_native_workers as t
from tilec.sim import launch
from tilec.sim import chains
from tilec.sim.native import choice
choice.WORK, chains.AT_ONCE = 0, 2
def run():
    out = np.zeros((t.CTAS * t.THREADS, 16), np.float32)
    text = t.HEAD.format(body=t.SEVERAL, threads=t.THREADS, zeros=t.ZEROS)
    launch(text, "k", t.CTAS, t.THREADS, [out, t.operands(1, wild=False), np.uint32(20)])
    return out.tobytes()
first = run()
child = os.fork()
if not child:
    os._exit(0 if run() == first else 1)
_, status = os.waitpid(child, 0)
assert status == 0 and run() == first
"""
    environment = {choice.VARIABLE: "native", choice.THREADS: "3"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0
