"""Kernels under seeded orders of their warps: right ones do not notice, wrong ones do.

Expected results are numpy's. The order changes what a kernel that leaves out a barrier gives;
barriers, named ones too, mbarriers, locks and flags hold under every order.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
  .shared .align 8 .b8 words[2048];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 128, %r1;
  mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  mov.u32 %r4, words; shl.b32 %r5, %r1, 2; add.u32 %r5, %r4, %r5; shr.u32 %r6, %r1, 5;
"""
SEEDS = (None, 0, 1, 2, 3, 4, 5)
CTAS, THREADS = 3, 128


def run(body: str, order: int | None) -> tuple[np.ndarray, Report]:
    """What 3 CTAs of 128 threads leave of y, given x = 0, 1, 2, …, and the report."""
    x, y = np.arange(CTAS * THREADS, dtype=np.uint32), np.zeros(CTAS * THREADS, np.uint32)
    report = launch(f"{HEAD}{body}\n  ret;\n}}\n", "k", CTAS, THREADS, [x, y], order=order)
    return y.reshape(CTAS, THREADS), report


REVERSE = """
  ld.global.u32 %r7, [%rd4]; st.shared.u32 [%r5], %r7;
  BARRIER
  xor.b32 %r8, %r5, 508; ld.shared.u32 %r9, [%r8]; st.global.u32 [%rd5], %r9;
"""


@pytest.mark.parametrize("order", SEEDS)
@pytest.mark.parametrize("barrier", ["bar.sync 0;", "barrier.sync 3, 128;"])
def test_a_right_kernel(barrier: str, order: int | None) -> None:
    y, report = run(REVERSE.replace("BARRIER", barrier), order)
    report.require_ok()
    x = np.arange(CTAS * THREADS).reshape(CTAS, THREADS)
    assert np.array_equal(y, x[:, ::-1])


def test_a_kernel_without_its_barrier_shows_what_the_order_was() -> None:
    results = []
    for order in SEEDS:
        y, report = run(REVERSE.replace("BARRIER", ""), order)
        assert {f.kind for f in report.findings} <= {"race", "uninitialised"}
        assert report.findings
        results.append(y.tobytes())
    assert len(set(results)) > 2
    # A warp reads what the opposite one wrote before it, and zeros where that one comes later.
    for y in (np.frombuffer(r, np.uint32).reshape(CTAS, 4, 32) for r in results[1:]):
        read = (y[0] != 0).any(axis=1)
        assert read[0] != read[3]
        assert read[1] != read[2]


def test_a_seed_says_all() -> None:
    body = "atom.global.add.u32 %r9, [%rd2], 1; st.global.u32 [%rd5], %r9;"
    again = [run(body.replace("[%rd2]", "[%rd1]"), 7)[0] for _ in range(2)]
    assert np.array_equal(*again)
    orders = {tuple(run(body.replace("[%rd2]", "[%rd1]"), s)[0][0, ::32]) for s in range(12)}
    assert len(orders) > 6


@pytest.mark.parametrize("order", SEEDS)
def test_warps_that_spin_on_each_other(order: int | None) -> None:
    """Warp w waits until w - 1 has raised its flag, adds its part, and raises its own."""
    y, report = run(
        """
  and.b32 %r7, %r1, 31; setp.ne.u32 %p1, %r7, 0; @%p1 bra END;
  mul.wide.u32 %rd6, %r2, 512; add.s64 %rd6, %rd6, %rd2; // the CTA's row of y
  setp.eq.u32 %p2, %r6, 0; @%p2 bra ADD;
WAIT:
  ld.acquire.cta.global.u32 %r8, [%rd6]; setp.ne.u32 %p3, %r8, %r6; @%p3 bra WAIT;
ADD:
  ld.global.u32 %r9, [%rd6+4]; mul.lo.u32 %r9, %r9, 10; add.u32 %r9, %r9, %r6;
  st.global.u32 [%rd6+4], %r9;
  add.u32 %r10, %r6, 1; st.release.cta.global.u32 [%rd6], %r10;
END:
""",
        order,
    )
    report.require_ok()
    assert (y[:, 0] == 4).all()
    assert (y[:, 1] == 123).all()


@pytest.mark.parametrize("order", SEEDS)
def test_a_lock(order: int | None) -> None:
    """Threads of all warps change one word, one at a time."""
    y, report = run(
        """
  mul.wide.u32 %rd6, %r2, 512; add.s64 %rd6, %rd6, %rd2;
  and.b32 %r7, %r1, 31; setp.ne.u32 %p1, %r7, 5; @%p1 bra END;
TAKE:
  atom.acquire.cta.global.cas.b32 %r8, [%rd6], 0, 1; setp.ne.u32 %p2, %r8, 0; @%p2 bra TAKE;
  ld.global.u32 %r9, [%rd6+8]; add.u32 %r9, %r9, %r1; st.global.u32 [%rd6+8], %r9;
  atom.release.cta.global.exch.b32 %r8, [%rd6], 0;
END:
""",
        order,
    )
    report.require_ok()
    assert (y[:, 2] == sum(32 * w + 5 for w in range(4))).all()


@pytest.mark.parametrize("order", SEEDS)
def test_some_warps_exit_and_the_lanes_of_others_part(order: int | None) -> None:
    y, report = run(
        """
  setp.eq.u32 %p1, %r6, 2; @%p1 ret;
  and.b32 %r7, %r1, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra EVEN;
  mov.u32 %r8, 5; bra JOIN;
EVEN: mov.u32 %r8, 7;
JOIN:
  shfl.sync.bfly.b32 %r9, %r8, 1, 31, -1;
  barrier.sync 1, 96;
  st.global.u32 [%rd5], %r9;
""",
        order,
    )
    report.require_ok()
    expected = np.tile(np.where(np.arange(THREADS) % 2, 7, 5), (CTAS, 1))
    expected[:, 64:96] = 0
    assert np.array_equal(y, expected)


def test_a_deadlock_is_still_one() -> None:
    body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0; bra END;\n A: bar.sync 1;\n END:"
    _, report = run(body, 1)
    assert [f.kind for f in report.findings] == ["barrier"]
