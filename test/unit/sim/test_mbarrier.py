"""mbarrier: phases, parities, tokens, transactions, and their part in ordering memory."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch

HEAD = """.version 8.6
.target sm_90
.address_size 64
.shared .align 8 .b64 full;
.shared .align 8 .b64 empty;
.shared .align 16 .b8 buffer[4096];
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, buffer; add.u32 %r4, %r3, %r2;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  setp.eq.u32 %p1, %r1, 0;
"""

INIT = """
  @%p1 mbarrier.init.shared.b64 [full], 32;
  @%p1 mbarrier.init.shared::cta.b64 [empty], 96;
  bar.sync 0;
"""


def run(body: str, threads: int, x: np.ndarray | None, y: np.ndarray) -> Report:
    text = f"{HEAD}{body}\n  ret;\n}}\n"
    return launch(text, "k", 1, threads, [x, y], max_steps=20_000)


PIPELINE = (
    INIT
    + """
  mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;
  setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUMER;
PRODUCER:
  xor.b32 %r8, %r6, 1;
WAIT_EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [empty], %r8, 1000;
  @!%p3 bra WAIT_EMPTY;
  add.u32 %r9, %r1, %r5; st.shared.u32 [%r4], %r9;
  mbarrier.arrive.shared::cta.b64 _, [full];
  xor.b32 %r6, %r6, 1; add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 6; @%p4 bra PRODUCER;
  bra END;
CONSUMER:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p3, [full], %r6;
  @!%p3 bra CONSUMER;
  and.b32 %r10, %r2, 127; add.u32 %r10, %r3, %r10; ld.shared.u32 %r11, [%r10];
  add.u32 %r7, %r7, %r11;
  mbarrier.arrive.release.cta.shared::cta.b64 %rd6, [empty];
  xor.b32 %r6, %r6, 1; add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 6; @%p4 bra CONSUMER;
  st.global.u32 [%rd5], %r7;
END:
"""
)


def test_producer_and_consumers() -> None:
    y = np.zeros(128, np.uint32)
    report = run(PIPELINE, 128, None, y)
    assert report.ok, report.findings
    assert np.array_equal(y[32:], 6 * (np.arange(96) % 32) + 15)


@pytest.mark.parametrize("wait", [True, False])
def test_an_mbarrier_orders_memory_if_it_is_waited_for(wait: bool) -> None:
    body = f"""{INIT}
  setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUMER;
  st.shared.u32 [%r4], %r1;
  mbarrier.arrive.shared::cta.b64 _, [full];
  bra END;
CONSUMER:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0;
  @!%p3 bra CONSUMER;
END:
  and.b32 %r10, %r2, 127; add.u32 %r10, %r3, %r10; ld.shared.u32 %r11, [%r10];
  st.global.u32 [%rd5], %r11;
"""
    if not wait:
        body = body.replace("mbarrier.try_wait.parity", "// ").replace("@!%p3 bra CONSUMER;", "")
    y = np.zeros(128, np.uint32)
    report = run(body, 128, None, y)
    assert report.ok == wait
    assert {f.kind for f in report.findings} == (set() if wait else {"race"})


def test_tokens_and_expected_transactions() -> None:
    body = """
  @%p1 mbarrier.init.shared.b64 [full], 2;
  bar.sync 0;
  setp.ge.u32 %p2, %r1, 2;
  @%p2 bra END;
  mbarrier.arrive.expect_tx.shared.b64 %rd6, [full], 8;
  mbarrier.test_wait.shared.b64 %p3, [full], %rd6;
  selp.u32 %r5, 1, 0, %p3;
  bar.warp.sync 3;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], 8;
  mbarrier.test_wait.shared.b64 %p3, [full], %rd6;
  selp.u32 %r6, 2, 0, %p3; add.u32 %r5, %r5, %r6;
  mbarrier.pending_count.b64 %r7, %rd6;
  shl.b32 %r7, %r7, 4; add.u32 %r5, %r5, %r7;
  st.global.u32 [%rd5], %r5;
END:
"""
    y = np.zeros(32, np.uint32)
    run(body, 32, None, y).require_ok()
    # Not complete before the transactions, complete after; the arrivals found 2 and 1 pending.
    assert y[:2].tolist() == [2 + 32, 2 + 16]


EXCHANGE = """
  @%p1 mbarrier.init.shared.b64 [full], 64;
  bar.sync 0;
  st.shared.u32 [%r4], %r1;
  mbarrier.arrive.shared.b64 _, [full];
LOOK:
  mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
  @!%p3 bra LOOK;
  xor.b32 %r7, %r2, 128; add.u32 %r7, %r7, %r3; ld.shared.u32 %r9, [%r7];
  st.global.u32 [%rd5], %r9;
"""


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("", "", set()),
        # One warp looks before the other has come, and does not mind what it sees.
        (
            "  mbarrier.arrive",
            "setp.lt.u32 %p2, %r1, 32; @%p2 bra LOOK;\n mbarrier.arrive",
            {"race"},
        ),
        ("bar.sync 0;", "", {"race"}),
    ],
    ids=["right", "phase not complete", "initialised without a barrier"],
)
def test_what_an_mbarrier_orders(old: str, new: str, kinds: set[str]) -> None:
    body = EXCHANGE.replace(old, new) if old else EXCHANGE
    if "%p2" in body:
        body = body.replace("@!%p3 bra LOOK;", "")
    report = run(body, 64, None, np.zeros(64, np.uint32))
    assert {f.kind for f in report.findings} == kinds


BULK = """
  @%p1 mbarrier.init.shared.b64 [full], 1;
  bar.sync 0;
  @!%p1 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 384;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%rd1], 256, [full];
  add.s64 %rd6, %rd1, 1024; add.u32 %r8, %r3, 256;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd6], 128, [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
  @!%p3 bra WAIT;
  ld.shared.u32 %r9, [%r4]; add.u32 %r9, %r9, 1; st.shared.u32 [%r4], %r9;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [buffer], 384;
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group 0;
"""


def test_bulk_copies() -> None:
    x, y = np.arange(288, dtype=np.uint32), np.zeros(96, np.uint32)
    run(BULK, 96, x, y).require_ok()
    assert np.array_equal(y, np.concatenate([x[:64], x[256:288]]) + 1)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;\n  @!%p3 bra WAIT;", "", "async"),
        ("%rd1, 1024", "%rd1, 1056", "out-of-bounds"),
        ("%r3, 256", "%r3, 264", "misaligned"),
        ("fence.proxy.async.shared::cta;", "", "proxy"),
        ("@%p1 cp.async.bulk.wait_group 0;", "", "async"),
    ],
)
def test_bulk_copies_that_are_wrong(old: str, new: str, kind: str) -> None:
    x, y = np.arange(288, dtype=np.uint32), np.zeros(96, np.uint32)
    report = run(BULK.replace(old, new), 96, x, y)
    assert report.findings[0].kind == kind


COPY = """
  @%p1 mbarrier.init.shared.b64 [full], 64;
  bar.sync 0;
  mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd1, %rd6; mul.lo.u32 %r7, %r1, 16;
  add.u32 %r8, %r7, %r3;
  cp.async.ca.shared.global [%r8], [%rd6], 16;
  cp.async.mbarrier.arrive.noinc.shared.b64 [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p3, [full], 0;
  @!%p3 bra WAIT;
  xor.b32 %r7, %r7, 512; add.u32 %r8, %r7, %r3; ld.shared.u32 %r9, [%r8];
  st.global.u32 [%rd5], %r9;
"""


@pytest.mark.parametrize("wait", [True, False])
def test_copies_that_arrive_on_an_mbarrier(wait: bool) -> None:
    x = np.arange(256, dtype=np.uint32)
    y = np.zeros(64, np.uint32)
    body = COPY if wait else COPY.replace("@!%p3 bra WAIT;", "").replace("mbarrier.try", "// try")
    report = run(body, 64, x, y)
    assert np.array_equal(y, x[::4][np.arange(64) ^ 32])
    assert report.ok == wait


def test_copy_sizes() -> None:
    body = """
  mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd1, %rd6; mul.lo.u32 %r7, %r1, 16;
  add.u32 %r8, %r7, %r3;
  cp.async.cg.shared.global.L2::128B [%r8], [%rd6], 16, %r1;
  setp.gt.u32 %p2, %r1, 5;
  cp.async.ca.shared.global [%r8+1024], [%rd6], 8, %p2;
  cp.async.ca.shared.global [%r8+1032], [%rd6], 4;
  cp.async.ca.shared.global [%r8+1036], [%rd6], 4, 0;
  cp.async.wait_all;
  ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r8];
  ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r8+1024];
  mul.wide.u32 %rd6, %r1, 32; add.s64 %rd6, %rd2, %rd6;
  st.global.v4.u32 [%rd6], {%r10, %r11, %r12, %r13};
  st.global.v4.u32 [%rd6+16], {%r14, %r15, %r16, %r17};
"""
    x = np.random.default_rng(0).integers(1, 255, 256).astype(np.uint8)
    y = np.ones((16, 32), np.uint8)
    run(body, 16, x, y).require_ok()
    for thread in range(16):
        mine = x[16 * thread : 16 * thread + 16]
        whole = np.where(np.arange(16) < thread, mine, 0)
        eight = mine[:8] if thread <= 5 else np.zeros(8)
        assert np.array_equal(y[thread], [*whole, *eight, *mine[:4], 0, 0, 0, 0])
