"""Races for the shared memory of other CTAs: found, at both lines; and none where there is none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tilec.sim import Report, launch

from .test_clusters import END, HEAD, INIT, SYNC, TX, WAIT

BEGIN = (
    " mov.u32 %r20, 7; mapa.shared::cluster.u32 %r14, %r10, 0;\n"
    f" st.shared.u32 [%r10], %r20;\n{SYNC}"
)
FINISH = f"{SYNC} st.global.u32 [%rd4], %r21;\n"
READY = f""" @%p1 mbarrier.init.shared::cta.b64 [%r4], 32;
 @%p1 fence.mbarrier_init.release.cluster;
{SYNC}"""
ARRIVE = " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];\n"
PUSH = " st.shared::cluster.u32 [%r11], %r20;\n"
PULL = " ld.shared::cluster.u32 %r21, [%r11];\n"
HERE, THERE = " ld.shared.u32 %r21, [%r10];\n", " st.shared.u32 [%r10], %r1;\n"
ADD = " red.relaxed.cluster.shared::cluster.add.u32 [%r11], %r20;\n"
SEND = f" st.async.weak.shared::cluster.{TX}.u32 [%r11], %r20, [%r12];\n"
FLAG = """ @%p1 mapa.shared::cluster.u32 %r30, %r4, %r6;
 fence.acq_rel.cluster; bar.warp.sync -1;
 @%p1 red.release.cluster.shared::cluster.add.u32 [%r30+8], 1;
SPIN:
 ld.acquire.cluster.shared.u32 %r31, [%r4+8]; setp.eq.u32 %p4, %r31, 0;
 @%p4 bra SPIN;
"""
COPY_IN = f" @%p1 cp.async.bulk.shared::cluster.shared::cta.{TX} [%r13], [%r23], 128, [%r12];\n"
SOURCE = (
    " add.u32 %r22, %r10, 256; st.shared.u32 [%r22], %r1; add.u32 %r23, %r3, 256;\n"
    " fence.proxy.async.shared::cta;\n"
)

RACES = {
    # what: program, what stands in the two lines
    "store, load of the owner": (f"{BEGIN}{PUSH}{HERE}", PUSH, HERE),
    "load of the owner, store": (f"{BEGIN}{HERE}{PUSH}", HERE, PUSH),
    "store of the owner, load": (f"{BEGIN}{THERE}{PULL}", THERE, PULL),
    "load, store of the owner": (f"{BEGIN}{PULL}{THERE}", PULL, THERE),
    "store, store of the owner": (f"{BEGIN}{PUSH}{THERE} mov.u32 %r21, 0;\n", PUSH, THERE),
    "stores of two": (f"{BEGIN} st.shared::cluster.u32 [%r14], %r1;\n mov.u32 %r21, 0;\n",
                      "[%r14]", "[%r14]"),
    "atomic, load of the owner": (f"{BEGIN}{ADD}{HERE}", ADD, HERE),
    "barrier of the CTA alone": (f"{BEGIN}{PUSH} bar.sync 0;\n{HERE}", PUSH, HERE),
    "arrival before the store": (
        f"{READY}{BEGIN}{ARRIVE}{PUSH}{WAIT}", PUSH, "ld.shared.u32 %r21, [%r10]"),
    "no wait for the arrival": (f"{READY}{BEGIN}{PUSH}{ARRIVE}{HERE}", PUSH, HERE),
    "no wait for st.async": (
        f"{INIT}{BEGIN}{SEND}{HERE}{WAIT}", SEND, HERE),
    "store beside st.async": (
        f"{INIT}{BEGIN}{SEND} st.shared::cluster.u32 [%r11+512], %r20;\n{WAIT}"
        " ld.shared.u32 %r21, [%r10+512];\n", "[%r11+512], %r20", "%r21, [%r10+512]"),
    "load of the owner, bulk copy": (f"{SOURCE}{INIT}{BEGIN}{HERE}{COPY_IN}{WAIT}", HERE, COPY_IN),
    "store of a peer, bulk copy": (
        f"{SOURCE}{INIT}{BEGIN} xor.b32 %r32, %r6, 2; mapa.shared::cluster.u32 %r33, %r10, %r32;\n"
        f" st.shared::cluster.u32 [%r33], %r20;\n{COPY_IN}{WAIT}", "[%r33], %r20", COPY_IN),
}  # fmt: skip
RIGHT = {
    "barriers": f"{BEGIN}{PUSH}{SYNC}{HERE}{SYNC}{PULL}{SYNC}{THERE}",
    "atomics": f"{BEGIN}{ADD}{ADD} mov.u32 %r21, 0;\n",
    "arrivals": f"{READY}{BEGIN}{PUSH}{ARRIVE}{WAIT}",
    "a flag": f"{BEGIN} @%p1 st.shared.u32 [%r4+8], 0;\n{SYNC}{PUSH}{FLAG}{HERE}",
    "st.async": f"{INIT}{BEGIN}{SEND}{WAIT}{THERE}",
    "reads": f"{BEGIN}{PULL}{HERE}{PULL}",
    "neighbouring bytes": f"{BEGIN} add.u32 %r11, %r11, 512; st.shared::cluster.u8 [%r11], %r20;\n"
                          " st.shared.u8 [%r10+513], %r20; mov.u32 %r21, 0;\n",
    "bulk copies": f"{SOURCE}{INIT}{BEGIN}{HERE} fence.proxy.async.shared::cta;\n"
                   f"{SYNC}{COPY_IN}{WAIT}",
}  # fmt: skip


def run(body: str, cluster: int, order: int | None) -> Report:
    text = f"{HEAD}{body}{FINISH}{END}".replace(".b64 full;", ".b64 full[2];")
    x, y = np.zeros(256, np.uint32), np.zeros(256, np.uint32)
    return launch(text, "k", 2 * cluster, 32, [x, y], cluster=cluster, order=order)


def lines_with(body: str, part: str) -> set[int]:
    lines = f"{HEAD}{body}{FINISH}{END}".splitlines()
    return {n for n, line in enumerate(lines, 1) if part.strip() in line}


@pytest.mark.parametrize("order", [None, 1, 2])
@pytest.mark.parametrize("race", RACES)
def test_races_are_found_at_both_lines(race: str, order: int | None) -> None:
    body, first, second = RACES[race]
    report = run(body, 4 if "peer" in race or "two" in race else 2, order)
    wanted = lines_with(body, first), lines_with(body, second)
    found = []
    for finding in report.findings:
        other = re.search(r"at line (\d+)", finding.message)
        if finding.kind == "race" and other:
            found.append({finding.line, int(other[1])})
    assert any({a, b} in found for a in wanted[0] for b in wanted[1]), report.findings


@pytest.mark.parametrize("order", [None, 1, 2])
@pytest.mark.parametrize("name", RIGHT)
def test_no_race_where_there_is_none(name: str, order: int | None) -> None:
    run(RIGHT[name], 2, order).require_ok()


def test_what_nobody_has_written() -> None:
    report = run(f"{BEGIN} ld.shared::cluster.u32 %r21, [%r11+512];\n", 2, None)
    (finding,) = report.findings
    assert finding.kind == "uninitialised"
    assert "stores to global memory what line 20 read, which nothing has" in finding.message


def test_a_race_names_the_threads() -> None:
    body, *_ = RACES["store, load of the owner"]
    (finding,) = run(body, 2, None).findings
    (line,) = lines_with(body, PUSH)
    assert (
        f"thread (0, 0, 0) of CTA (0, 0, 0) reads shared memory at 0x0, which thread (0, 0, 0) of "
        f"CTA (1, 0, 0) wrote at line {line}, without anything that orders them"
    ) in finding.message


def test_texts_assemble(assemblers: list) -> None:
    for ptxas in assemblers:
        for body in (*RIGHT.values(), *(body for body, *_ in RACES.values())):
            text = f"{HEAD}{body}{FINISH}{END}".replace(".b64 full;", ".b64 full[2];")
            assert ptxas.run(text, "sm_90a") == (0, "")
