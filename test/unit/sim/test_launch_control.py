"""CTAs take over the work of clusters that have not started, and each tile is computed once.

The kernels follow the examples of PTX ISA 9.7.13.17: one thread asks, all threads wait for the
16 bytes and decode them, until a request fails.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import TilecError
from tilec.sim import launch

QUERY = "clusterlaunchcontrol.query_cancel"
KERNEL = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) CLUSTER
{
  .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b16 %h; .reg .b64 %rd<6>; .reg .b128 %q;
  .shared .align 16 .b8 answer[16];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y;
  mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, 0; mov.u32 %r8, %ctaid.z;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p1 fence.mbarrier_init.release.cluster;
  MEET
$next:
  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;
  ASKS
  mov.u32 %r6, %nctaid.x; mov.u32 %r9, %nctaid.y;
  mad.lo.u32 %r7, %r8, %r9, %r3;
  mad.lo.u32 %r7, %r7, %r6, %r2;
  mul.wide.u32 %rd3, %r7, 4; add.s64 %rd4, %rd2, %rd3; add.s64 %rd3, %rd1, %rd3;
  @%p1 red.relaxed.gpu.global.add.u32 [%rd3], 1;
  mov.u32 %r7, %ctaid.x;
  @%p1 st.global.u32 [%rd4], %r7;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r5;
  @!%p2 bra $wait;
  ld.shared.b128 %q, [answer];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
  @!%p3 bra $end;
  DECODE
  add.u32 %r2, %r2, %r4;
  fence.proxy.async.shared::cta;
  xor.b32 %r5, %r5, 1;
  MEET
  bra $next;
$end:
  MEET
  ret;
}
"""
VECTOR = f"{QUERY}.get_first_ctaid.v4.b32.b128 {{%r2, %r3, %r8, _}}, %q;"
AXES = "".join(
    f"{QUERY}.get_first_ctaid::{axis}.b32.b128 %{r}, %q;\n"
    for axis, r in zip("xyz", ("r2", "r3", "r8"), strict=True)
)
ASK = (
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
    "{cast}.b128 [answer], [bar];"
)


def program(*, cluster=1, decode=VECTOR):
    """The kernel, for clusters along x."""
    text = KERNEL.replace("DECODE", decode)
    if cluster == 1:
        return (
            text.replace("MEET", "bar.sync 0;").replace("CLUSTER", "")
            .replace("ASKS", f"@%p1 {ASK.format(cast='')}")
        )  # fmt: skip
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    first = "setp.eq.and.u32 %p4, %r4, 0, %p1;"
    cast = ASK.format(cast=".multicast::cluster::all")
    # All CTAs of the cluster must expect the bytes before they can come.
    asks = f"{meet} {first} @%p4 {cast}"
    return (
        text.replace("ASKS", asks).replace("MEET", meet)
        .replace("CLUSTER", f".explicitcluster .reqnctapercluster {cluster}, 1, 1")
    )  # fmt: skip


def run(text, grid, order=None):
    """How often each tile was computed, by which CTA's first coordinate, and the report."""
    x, y, z = grid
    count, who = np.zeros((2, z, y, x), np.uint32)
    found = launch(text, "k", grid, 64, [count, who], order=order, max_steps=5000)
    return count, who, found


@pytest.mark.parametrize("order", [None, 0, 1, 2])
@pytest.mark.parametrize("cluster", [1, 2])
def test_each_tile_once(cluster, order):
    """Whatever is handed out, and whether requests fail early, each tile is computed once."""
    for decode in (VECTOR, AXES):
        text = program(cluster=cluster, decode=decode)
        count, who, found = run(text, (6, 5, 2), order)
        found.require_ok()
        assert (count == 1).all()
        # Many tiles were computed by CTAs that began elsewhere.
        assert (who != np.arange(6)).sum() > 20


def test_what_is_handed_out_differs():
    """Two seeds give the tiles to different CTAs; without one they go out in order."""
    results = [run(program(), (16, 1, 1), order)[1].tobytes() for order in (None, 1, 2)]
    assert len(set(results)) == 3


ASKS_AGAIN = (f"@!%p3 bra $end;\n  {VECTOR}", f"""@!%p3 bra $over;
  {VECTOR}
$over:
  add.u32 %r19, %r19, 1; setp.gt.u32 %p4, %r19, 9;
  @%p4 bra $end;""")  # fmt: skip
FAULTS = [
    ("the response is not waited for", "@!%p2 bra $wait;", "", "async", "ld.shared"),
    ("asks again after a failure", *ASKS_AGAIN, "launch-control", "try_cancel"),
    ("decodes a failure", "@!%p3 bra $end;", "", "launch-control", "get_first"),
    ("decodes something else", "ld.shared.b128 %q, [answer];", "mov.b128 %q, {%rd1, %rd2};",
     "launch-control", "is_canceled"),
    ("misplaced", "[answer], [bar]", "[answer+8], [bar]", "misaligned", "try_cancel"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "kind", "where"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS]
)
def test_faults(old, new, kind, where):
    """Each fault is found at its line."""
    text = program()
    assert old in text
    text = text.replace(old, new)
    _, _, found = run(text, (8, 1, 1))
    lines = text.splitlines()
    assert [f for f in found.findings if f.kind == kind and where in lines[f.line - 1]], found


def test_bits_of_16_bytes():
    """Moves and accesses of 128 bits keep them all; what is not written stays undefined."""
    text = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<6>; .reg .b128 %q<3>; .shared .align 16 .b8 s[32];
  ld.param.u64 %rd1, [p];
  ld.global.b128 %q0, [%rd1];
  mov.b128 {%rd2, %rd3}, %q0;
  mov.b128 %q1, {%rd3, %rd2};
  st.shared.b128 [s], %q1;
  ld.shared.b128 %q2, [s];
  st.global.b128 [%rd1+16], %q2;
  ret;
}
"""
    words = np.array([1, 0x8000000000000000, 0, 0], np.uint64)
    launch(text, "k", 1, 1, [words]).require_ok()
    assert words[2:].tolist() == words[1::-1].tolist()
    found = launch(text.replace("ld.shared.b128 %q2, [s]", "ld.shared.b128 %q2, [s+16]"),
                   "k", 1, 1, [words])  # fmt: skip
    assert [f.kind for f in found.findings] == ["uninitialised"]
    with pytest.raises(TilecError, match="128 bits where u32"):
        launch(text.replace("st.global.b128 [%rd1+16]", "st.global.u32 [%rd1+16]"),
               "k", 1, 1, [words])  # fmt: skip
