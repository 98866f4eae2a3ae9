"""Global memory that threads write and copies touch, with a `fence.proxy.async` between or without.

PTX ISA, "Async proxy": "a cross-proxy fence is required to synchronize across the proxies". Each
kind is a kernel that lacks the fence, of the writers or of the reader, with a finding at the line
marked `// here`; with the fence it has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tilec.sim import Report, TensorMap, launch

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[1024];
.shared .align 8 .b64 full;
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 x, .param .u64 flag)
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
 mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [flag];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, tile; mov.u32 %r4, full;
 setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; setp.eq.u32 %p4, %r2, LAST;
 shl.b32 %r7, %r1, 4; add.u32 %r8, %r3, %r7; cvt.u64.u32 %rd5, %r7; add.s64 %rd5, %rd2, %rd5;
 @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
 st.shared.v4.u32 [%r8], {%r1, %r1, %r1, %r1};
 fence.proxy.async.shared::cta; bar.sync 0;
"""
END = "\n ret; }\n"
TX = "mbarrier::complete_tx::bytes [%r3]"
FETCH = (
    f"@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;\n"
    f"@%p1 cp.async.bulk{{tensor}}.shared::cluster.global.{TX}, [{{source}}], [%r4]; // here\n"
    "w: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0; @!%p3 bra w;"
)
BULK = FETCH.format(tensor="", source="%rd2], 1024").replace("], 1024], [", "], 1024, [")
BOX = FETCH.format(tensor=".tensor.2d", source="%rd1, {{0, 0}}")
STORE = "st.global.v4.u32 [%rd5], {{%r1, %r1, %r1, %r1}};"
TO = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 1024; // here"
COMMIT = "\n@%p1 cp.async.bulk.commit_group;"
WAIT = "@%p1 cp.async.bulk.wait_group 0;"
KINDS = {
    "by who wrote": f"{STORE} {{fence}} bar.sync 0;\n{BULK}",
    "by who reads": f"{STORE} bar.sync 0; {{reader}}\n{BULK}",
    "of a box": f"{STORE} {{fence}} bar.sync 0;\n{BOX}",
    "a bulk store over it": f"{STORE} {{fence}} bar.sync 0;\n@%p1 {TO} {COMMIT} {WAIT}",
    "a reduction of it": (
        f"{STORE} {{fence}} bar.sync 0;\n@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group"
        f".add.u32 [%rd2], [%r3], 1024; // here {COMMIT} {WAIT}"
    ),
    "atomics": f"red.global.add.u32 [%rd5], 1; {{fence}} bar.sync 0;\n{BULK}",
    "after another fence of the reader": (
        f"fence.proxy.async; {STORE} bar.sync 0; {{reader}}\n{BULK}"
    ),
}


def run(body: str, last: int = 0) -> Report:
    x, flag = np.zeros((8, 32), np.uint32), np.zeros(4, np.uint32)
    text = HEAD.replace("LAST", str(last)) + body + END
    maps = [TensorMap(x, box=(8, 32)), x, flag]
    return launch(text, "k", last + 1, 64, maps, max_steps=20_000)


def missed(body: str, last: int = 0) -> None:
    """One finding, of the proxies, at the line that says so."""
    report = run(body, last)
    (found,) = report.findings
    assert found.kind == "proxy", str(found)
    lines = f"{HEAD}{body}".splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if "// here" in text]
    assert found.line == line
    assert "global memory at 0x7f" in found.message


@pytest.mark.parametrize("fence", ["fence.proxy.async;", "fence.proxy.async.global;"])
@pytest.mark.parametrize("name", KINDS)
def test_kinds(name: str, fence: str) -> None:
    missed(KINDS[name].format(fence="", reader=""))
    report = run(KINDS[name].format(fence=fence, reader=f"@%p1 {fence}"))
    assert report.ok, report.findings


@pytest.mark.parametrize(
    "fence",
    [
        "fence.proxy.async.shared::cta;",
        "fence.proxy.async.shared::cluster;",
        "fence.proxy.alias;",
        "fence.acq_rel.gpu;",
    ],
)
def test_other_fences_do_not_count(fence: str) -> None:
    missed(KINDS["by who wrote"].format(fence=fence))


def test_a_fence_between_issue_and_wait_is_too_late() -> None:
    late = f"bar.sync 0;\n@%p1 {TO} {COMMIT} fence.proxy.async; {WAIT}"
    missed(STORE.format() + late)


def test_what_was_written_before_the_launch_needs_none() -> None:
    assert run(BULK).ok


def test_what_a_copy_has_overwritten_is_of_its_proxy() -> None:
    first = KINDS["a bulk store over it"].format(fence="fence.proxy.async;")
    assert run(f"{first} bar.sync 0;\n{BULK}".replace("// here", "")).ok


@pytest.mark.parametrize("fenced", [False, True])
def test_threads_of_an_earlier_wave(fenced: bool) -> None:
    """CTAs of 64 threads come in waves of 128: 0 writes, and 200 reads."""
    fence = "fence.proxy.async.global;" if fenced else ""
    body = f"""@!%p2 bra other; {STORE.format()} {fence} bar.sync 0;
 fence.acq_rel.gpu; @%p1 st.relaxed.gpu.global.u32 [%rd3], 1; bra done;
other: @!%p4 bra done;
 poll: ld.relaxed.gpu.global.u32 %r10, [%rd3]; setp.eq.u32 %p3, %r10, 0; @%p3 bra poll;
 fence.acq_rel.gpu;
{BULK}
done:"""
    if fenced:
        assert run(body, 200).ok
    else:
        missed(body, 200)


def test_a_fence_for_global_memory_does_not_count_for_shared() -> None:
    store = "st.shared.v4.u32 [%r8], {%r2, %r2, %r2, %r2};"
    body = f"{store} FENCE bar.sync 0;\n@%p1 {TO} {COMMIT} {WAIT}"
    report = run(body.replace("FENCE", "fence.proxy.async.global;"))
    assert [one.kind for one in report.findings] == ["proxy"]
    assert "shared memory at" in report.findings[0].message
    assert run(body.replace("FENCE", "fence.proxy.async.shared::cta;")).ok


@pytest.mark.parametrize("fence", ["", "fence.proxy.async.global;"])
def test_stores_in_a_loop_by_both_engines(both: Any, fence: str) -> None:
    """Machine code leaves the stores of such kernels to numpy, which follows them.

    What is copied is written in the last round, when machine code has long executed the rest.
    """
    loop = f"""mov.u32 %r12, 0; add.s64 %rd6, %rd5, 39936;
loop: st.global.v4.u32 [%rd6], {{%r1, %r1, %r1, %r1}}; add.s64 %rd6, %rd6, -1024;
 add.u32 %r12, %r12, 1; setp.lt.u32 %p5, %r12, 40; @%p5 bra loop;
 {fence} bar.sync 0;\n{BULK}"""
    box, x = np.zeros((8, 32), np.uint32), np.zeros((40, 256), np.uint32)
    given = [TensorMap(box, box=(8, 32)), x, np.zeros(4, np.uint32)]
    _, report, _ = both(HEAD.replace("LAST", "0") + loop + END, "k", 1, 64, given=given)
    assert [one.kind for one in report.findings] == ([] if fence else ["proxy"])
