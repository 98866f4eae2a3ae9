"""Clusters: registers, shared memory and mbarriers of peers, bulk copies, and what goes wrong."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import LaunchError, Report, launch

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 buffer[1024];
.shared .align 8 .b64 full;
.visible .entry k(.param .u64 x, .param .u64 y)
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r3, buffer;
 mov.u32 %r4, full; mov.u32 %r5, %cluster_ctarank; xor.b32 %r6, %r5, 1;
 mov.u32 %r7, %ctaid.x; mad.lo.u32 %r8, %r7, 32, %r1; mul.wide.u32 %rd3, %r8, 4;
 add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3;
 shl.b32 %r9, %r1, 2; add.u32 %r10, %r3, %r9; setp.eq.u32 %p1, %r1, 0;
 mapa.shared::cluster.u32 %r11, %r10, %r6; mapa.shared::cluster.u32 %r12, %r4, %r6;
 mapa.shared::cluster.u32 %r13, %r3, %r6;
"""
SYNC = " barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;\n"
END = " ret;\n}\n"


def run(body: str, ctas: int = 4, x: np.ndarray | None = None) -> tuple[Report, np.ndarray]:
    y = np.zeros(32 * ctas, np.uint32)
    x = np.arange(32 * ctas, dtype=np.uint32) if x is None else x
    return launch(f"{HEAD}{body}{END}", "k", ctas, 32, [x, y], cluster=2), y


EXCHANGE = f""" ld.global.u32 %r20, [%rd5];
 st.shared.u32 [%r10], %r20;
{SYNC} ld.shared::cluster.u32 %r21, [%r11];
{SYNC} st.global.u32 [%rd4], %r21;
"""
GENERIC = EXCHANGE.replace(
    "ld.shared::cluster.u32 %r21, [%r11];",
    "cvt.u64.u32 %rd6, %r10; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd6, %rd6, %r6; "
    "ld.u32 %r21, [%rd6];",
)
PUSH = f""" ld.global.u32 %r20, [%rd5];
{SYNC} st.shared::cluster.u32 [%r11], %r20;
{SYNC} ld.shared.u32 %r21, [%r10]; st.global.u32 [%rd4], %r21;
"""
ATOMIC = f""" ld.global.u32 %r20, [%rd5]; mov.u32 %r21, 0;
 st.shared.u32 [%r10], %r21;
{SYNC} red.relaxed.cluster.shared::cluster.add.u32 [%r11], %r20;
{SYNC} ld.shared.u32 %r21, [%r10]; st.global.u32 [%rd4], %r21;
"""
INIT = f""" @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
 @%p1 fence.mbarrier_init.release.cluster;
{SYNC} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;
"""
WAIT = """WAIT:
 mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r4], 0;
 @!%p2 bra WAIT;
 ld.shared.u32 %r21, [%r10]; st.global.u32 [%rd4], %r21;
"""
TX = "mbarrier::complete_tx::bytes"
STORE_ASYNC = (
    f"{INIT} ld.global.u32 %r20, [%rd5];\n"
    f" st.async.weak.shared::cluster.{TX}.u32 [%r11], %r20, [%r12];\n{WAIT}"
)
COPY = (
    f" ld.global.u32 %r20, [%rd5]; add.u32 %r22, %r10, 256; st.shared.u32 [%r22], %r20;\n"
    f" fence.proxy.async.shared::cta;\n{INIT} add.u32 %r23, %r3, 256;\n"
    f" @%p1 cp.async.bulk.shared::cluster.shared::cta.{TX} [%r13], [%r23], 128, [%r12];\n"
    f"{WAIT}{SYNC}"
)
ADD_ASYNC = " st.shared.u32 [%r10], %r1;\n" + STORE_ASYNC.replace(
    "st.async.weak", "red.async.relaxed.cluster"
).replace(f"{TX}.u32", f"{TX}.add.u32")
PROGRAMS = {
    "load": EXCHANGE, "generic load": GENERIC, "store": PUSH, "red": ATOMIC,
    "st.async": STORE_ASYNC, "bulk copy": COPY,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_peer_gets(name: str) -> None:
    report, y = run(PROGRAMS[name])
    report.require_ok()
    assert np.array_equal(y.reshape(2, 2, 32)[:, ::-1].reshape(-1), np.arange(128))


def test_elements_are_added_to_a_peer() -> None:
    report, y = run(ADD_ASYNC)
    report.require_ok()
    expected = np.arange(128).reshape(2, 2, 32)[:, ::-1].reshape(-1) + np.tile(np.arange(32), 4)
    assert np.array_equal(y, expected)


def test_a_multicast_reaches_all() -> None:
    body = f"""{INIT} setp.eq.u32 %p3, %r5, 0; and.pred %p3, %p3, %p1;
 @%p3 cp.async.bulk.shared::cluster.global.{TX}.multicast::cluster [%r3], [%rd5], 128, [%r4], 3;
{WAIT}"""
    report, y = run(body)
    report.require_ok()
    assert np.array_equal(y, np.repeat(np.arange(128).reshape(2, 2, 32)[:, :1], 2, axis=1).ravel())
    assert report.copied == 4 * 128


FAULTS = {
    # what: program, replaced, by, the kind of the finding, what its line holds
    "no barrier before": (EXCHANGE, f"{SYNC} ld", " bar.sync 0;\n ld", "cluster", "ld.shared::c"),
    "no barrier after": (EXCHANGE, f"{SYNC} st", " st", "cluster", "ld.shared::cluster"),
    "no barrier after a store": (PUSH, f"{SYNC} ld", " ld", "cluster", "st.shared::cluster"),
    "no wait for a peer's store": (STORE_ASYNC, "@!%p2 bra WAIT;", "", "cluster", "st.async"),
    "no init fence": (
        STORE_ASYNC.replace("arrive.aligned", "arrive.relaxed.aligned"),
        " @%p1 fence.mbarrier_init.release.cluster;\n", "", "cluster", "st.async"),
    "too few bytes": (STORE_ASYNC, "[%r4], 128", "[%r4], 132", "deadlock", "bra WAIT"),
    "no peer": (EXCHANGE, " ld.shared::cluster.u32 %r21, [%r11];",
                "mapa.shared::cluster.u32 %r11, %r10, 2; ld.shared::cluster.u32 %r21, [%r11];",
                "out-of-bounds", "ld.shared::cluster"),
    "beyond a peer's memory": (EXCHANGE, "u32 %r21, [%r11]", "u32 %r21, [%r11+4096]",
                               "out-of-bounds", "ld.shared::cluster"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str) -> None:
    program, old, new, kind, part = FAULTS[fault]
    assert old in program
    body = program.replace(old, new, 1) if new else program.replace(old, new)
    report, _ = run(body)
    lines = f"{HEAD}{body}{END}".splitlines()
    named = [(f.kind, f"{lines[f.line - 1]} {lines[f.line]}") for f in report.findings]
    assert any(k == kind and part in line for k, line in named), report.findings


def test_a_barrier_that_a_cta_does_not_reach() -> None:
    body = f""" setp.eq.u32 %p2, %r5, 1; @%p2 bra LONE;
{SYNC} bra END;
LONE:
 bar.sync 1, 64;
END:
"""
    report, _ = run(body)
    assert report.findings[-1].kind == "deadlock"
    assert "the barrier of the cluster" in report.findings[-1].message


@pytest.mark.parametrize("cluster", [(2, 1, 1), (1, 2, 1), (2, 2, 1), (4, 1, 2)])
def test_registers(cluster: tuple[int, int, int]) -> None:
    names = [
        "%ctaid.x", "%ctaid.y", "%ctaid.z", "%clusterid.x", "%clusterid.y", "%clusterid.z",
        "%nclusterid.x", "%nclusterid.y", "%nclusterid.z", "%cluster_ctaid.x", "%cluster_ctaid.y",
        "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
        "%cluster_ctarank", "%cluster_nctarank",
    ]  # fmt: skip
    grid = (4, 4, 2)
    store = "".join(
        f" mov.u32 %r1, {name}; st.global.u32 [%rd3+{4 * i}], %r1;\n"
        for i, name in enumerate(names)
    )
    text = f""".version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 y)
{{
 .reg .pred %p1; .reg .b32 %r<9>; .reg .b64 %rd<9>;
 ld.param.u64 %rd1, [y]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ctaid.z;
 mad.lo.u32 %r3, %r4, {grid[1]}, %r3; mad.lo.u32 %r2, %r3, {grid[0]}, %r2;
 mul.wide.u32 %rd2, %r2, {4 * (len(names) + 1)}; add.s64 %rd3, %rd1, %rd2;
{store}
 mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p1;
 st.global.u32 [%rd3+{4 * len(names)}], %r1;
 ret;
}}
"""
    y = np.zeros((*grid[::-1], len(names) + 1), np.uint32)
    launch(text, "k", grid, 1, [y], cluster=cluster).require_ok()
    for z, row, x in np.ndindex(*grid[::-1]):
        at = (x, row, z)
        inside = [a % c for a, c in zip(at, cluster, strict=True)]
        rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
        expected = [
            *at, *(a // c for a, c in zip(at, cluster, strict=True)),
            *(g // c for g, c in zip(grid, cluster, strict=True)), *inside, *cluster, rank,
            int(np.prod(cluster)), 1,
        ]  # fmt: skip
        assert y[z, row, x].tolist() == expected


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"cluster": 3}, "is not a whole number of clusters of 3"),
        ({"cluster": (4, 4, 2)}, "at most 16"),
        ({"cluster": 0}, "positive integers"),
        ({"cluster": 2, "arch": "sm_80"}, "sm_80 has no clusters"),
    ],
)
def test_clusters_that_are_not_legal(given: dict[str, object], words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        launch(f"{HEAD}{END}", "k", (4, 4, 4), 32, [None, None], **given)


def test_a_kernel_that_requires_clusters() -> None:
    text = f"{HEAD}{EXCHANGE}{END}".replace("\n{\n", "\n.reqnctapercluster 2\n{\n", 1)
    x, y = np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)
    launch(text, "k", 4, 32, [x, y]).require_ok()
    assert np.array_equal(y.reshape(2, 2, 32)[:, ::-1].reshape(-1), x)
    with pytest.raises(LaunchError, match="requires clusters of"):
        launch(text, "k", 4, 32, [x, y], cluster=4)


def test_texts_assemble(assemblers: list) -> None:
    for ptxas in assemblers:
        for body in (*PROGRAMS.values(), ADD_ASYNC):
            assert ptxas.run(f"{HEAD}{body}{END}", "sm_90a") == (0, "")
