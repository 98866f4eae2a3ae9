"""The timing model against schedules computed by hand: latencies, rates, overlap, waits, waves."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from tilec.isa import target
from tilec.isa.gpus import gpu_of
from tilec.isa.latencies import latencies
from tilec.isa.rates import rates
from tilec.sim import LaunchError, Report, Schedule, launch
from tilec.sim.timing import recorder

HEAD = """.version 8.0
.target {arch}
.address_size 64
.visible .entry k(.param .u64 x)
{{
 .reg .b32 %r<99>; .reg .b64 %d<99>; .reg .f32 %f<99>; .reg .pred %p<9>;
 .shared .align 16 .b8 s[8192]; .shared .align 8 .b64 bar;
 ld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
 shl.b32 %r4, %r1, 2; mov.u32 %r5, s; add.u32 %r6, %r5, %r4; shr.u32 %r7, %r1, 5;
 mad.lo.u32 %r8, %r2, %r3, %r1; mul.wide.u32 %d2, %r8, 4; add.u64 %d3, %d1, %d2;
 mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F800000; mov.u32 %r9, bar;
"""
KNOWN = latencies(target("sm_80"))
DEPENDENT = "fma.rn.f32 %f1, %f1, %f2, %f2;\n"


def simulated(body: str, ctas: int = 1, threads: int = 32, arch: str = "sm_80") -> Report:
    text = HEAD.format(arch=arch) + body + "\n ret;\n}\n"
    return launch(text, "k", ctas, threads, [np.zeros(1 << 18, np.uint32)], recording=(0, 0, 0))


def schedule(body: str, ctas: int = 1, threads: int = 32, arch: str = "sm_80", **how) -> Schedule:
    report = simulated(body, ctas, threads, arch)
    assert report.ok, report.findings
    assert report.recording is not None
    made = report.recording.replay(**how)
    assert not made.stuck
    return made


def cycles(body: str, threads: int = 32, arch: str = "sm_80") -> float:
    return schedule(body, 1, threads, arch).cycles


def each(one: str, threads: int = 32, arch: str = "sm_80") -> float:
    """Cycles that one more of something takes, of 20 more."""
    return (cycles(one * 40, threads, arch) - cycles(one * 20, threads, arch)) / 20


def independent(what: str) -> str:
    return "".join(what.format(n) for n in range(10, 20))


CHAINS = {
    # one: (cycles of a chain's link, of one among independent ones)
    "fma.rn.f32 %f{0}, %f{1}, %f2, %f2;\n": (4, 2),
    "add.u32 %r{0}, %r{1}, 1;\n": (4, 2),
    "ex2.approx.f32 %f{0}, %f{1};\n": (32 / 4 + 16, 32 / 4),
    "add.f64 %d{0}, %d{1}, %d{1};\n": (32 / 8 + 16, 32 / 8),
}


@pytest.mark.parametrize("what", CHAINS)
def test_dependent_instructions_take_latencies_and_others_rates(what: str) -> None:
    begin = "".join(
        f"mov.f32 %f{n}, 0f00000000; mov.u32 %r{n}, 0; mov.u64 %d{n}, 0;" for n in range(9, 20)
    )
    chain, apart = CHAINS[what]
    link = what.format(10, 10)
    assert cycles(begin + link * 40) - cycles(begin + link * 20) == pytest.approx(20 * chain)
    more = independent(what.replace("{1}", "9"))
    assert cycles(begin + more * 4) - cycles(begin + more * 2) == pytest.approx(20 * apart)


def test_lanes_are_those_of_the_target() -> None:
    """sm_90 has an f32 lane for each lane of a warp; sm_80 for half of them."""
    more = independent("fma.rn.f32 %f{0}, %f1, %f2, %f2;\n")
    assert each(more, arch="sm_80") == pytest.approx(20)
    assert each(more, arch="sm_90") == pytest.approx(10)


@pytest.mark.parametrize("warps", [1, 2, 3, 4])
def test_warps_of_a_part_overlap(warps: int) -> None:
    """Warps 0, 4, 8 … share a part of the SM: latency hides until its lanes are busy."""
    assert each(DEPENDENT, threads=128 * warps) == pytest.approx(max(4, 2 * warps))
    assert each(DEPENDENT, threads=32 * min(warps, 4)) == pytest.approx(4)


def test_products_of_matrices() -> None:
    """16·8·16 products and sums, of which a part of an A100's SM does 1024 / 4 in a cycle."""
    begin = "".join(f"mov.b32 %r{n}, 0;" for n in range(10, 30))
    begin += "".join(f"mov.f32 %f{n}, 0f00000000;" for n in range(10, 60))
    product = (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f{0}, %f{1}, %f{2}, %f{3}}}, "
        "{{%r10, %r11, %r12, %r13}}, {{%r14, %r15}}, {{%f{0}, %f{1}, %f{2}, %f{3}}};\n"
    )
    busy = 16 * 8 * 16 / (1024 / 4)
    chain = [cycles(begin + product.format(10, 11, 12, 13) * n) for n in (10, 20)]
    assert chain[1] - chain[0] == pytest.approx(10 * (busy + 16))
    apart = "".join(product.format(*range(n, n + 4)) for n in range(10, 50, 4))
    more = [cycles(begin + apart * n) for n in (2, 4)]
    assert more[1] - more[0] == pytest.approx(20 * busy)


def test_shared_memory() -> None:
    """A chain of loads; conflicts of 32 lanes pass 32 times."""
    store = "st.shared.u32 [%r6], %r6; bar.warp.sync -1; mov.u32 %r10, %r6;\n"
    load = "ld.shared.u32 %r10, [%r10];\n"
    chain = [cycles(store + load * n) for n in (10, 20)]
    assert chain[1] - chain[0] == pytest.approx(10 * KNOWN.shared)
    far = "shl.b32 %r11, %r1, 7; add.u32 %r12, %r5, %r11; st.shared.u32 [%r12], %r12;\n"
    far += "bar.warp.sync -1;"
    begin, conflict = far, "ld.shared.u32 %r12, [%r12];\n"
    chain = [cycles(begin + conflict * n) for n in (10, 20)]
    assert chain[1] - chain[0] == pytest.approx(10 * (KNOWN.shared + 31))


def test_global_memory() -> None:
    """What the CTA has loaded comes from L1; the first load comes from L2 or DRAM."""
    load = "ld.global.u64 %d10, [%d3]; and.b64 %d10, %d10, 0; add.u64 %d3, %d3, %d10;\n"
    load = load.replace("%d3]", "%d4]").replace("%d3, %d3", "%d4, %d4")
    begin = "and.b64 %d4, %d3, -8;\n"
    chain = [cycles(begin + load * n) for n in (1, 11)]
    per_load = (chain[1] - chain[0]) / 10
    assert per_load == pytest.approx(KNOWN.l1 + 2 * KNOWN.arithmetic + 1, abs=1)
    nothing = cycles(begin)
    assert KNOWN.l2 <= chain[0] - nothing <= KNOWN.dram + 40


def test_bytes_take_the_rate_of_l2() -> None:
    """Warps that ask for more than latency hides: as many bytes a cycle as an SM takes."""
    loads = [f"ld.global.cg.u32 %r{20 + n}, [%d3+{4096 * n}];\n" for n in range(40)]
    uses = [f"add.u32 %r10, %r10, %r{20 + n};\n" for n in range(40)]
    begin = "mov.u32 %r10, 0;\n"
    some, more = (cycles(begin + "".join(loads[:n] + uses[:n]), threads=1024) for n in (20, 40))
    bytes_ = 20 * 1024 * 4
    assert more - some == pytest.approx(bytes_ / rates(target("sm_80")).l2_bytes, rel=0.15)


COPY = """
 mul.lo.u32 %r20, %r1, 16; add.u32 %r21, %r5, %r20; cvt.u64.u32 %d20, %r20;
 add.u64 %d21, %d1, %d20;
 cp.async.cg.shared.global [%r21], [%d21], 16; cp.async.commit_group;
"""
COPIED = "cp.async.wait_group 0; bar.warp.sync -1; ld.shared.u32 %r22, [%r21];\n"


def test_a_copy_is_hidden_by_work_and_not_without() -> None:
    alone, work = cycles(COPY + COPIED), cycles(DEPENDENT * 300)
    both, little = cycles(COPY + DEPENDENT * 300 + COPIED), cycles(COPY + DEPENDENT * 10 + COPIED)
    assert work > alone > KNOWN.l2
    assert both == pytest.approx(work, abs=60)  # copies are issued before, and loaded after
    assert little == pytest.approx(alone, abs=3)
    waits = [one for one in schedule(COPY + COPIED).warps[0].slices if one.cause == "copies"]
    assert len(waits) == 1
    assert waits[0].end - waits[0].begin >= KNOWN.l2


def test_a_warp_waits_at_a_barrier_for_another() -> None:
    late = "setp.ne.u32 %p1, %r7, 0; @%p1 bra there;\n" + DEPENDENT * 100 + "there: bar.sync 0;"
    made = schedule(late, threads=64)
    early, busy = made.warps
    (wait,) = [one for one in busy.slices if one.cause == "a barrier of the CTA"]
    assert not [one for one in early.slices if one.cause == "a barrier of the CTA"
                and one.end - one.begin > KNOWN.barrier]  # fmt: skip
    assert wait.end - wait.begin == pytest.approx(100 * 4 + KNOWN.barrier, abs=8)


BULK = """
 setp.eq.u32 %p1, %r1, 0;
 @%p1 mbarrier.init.shared.b64 [%r9], 1;
 bar.warp.sync -1;
 @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r9], 4096;
 @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d1], 4096, [%r9];
again:
 mbarrier.try_wait.parity.shared.b64 %p2, [%r9], 0;
 @!%p2 bra again;
 ld.shared.u32 %r22, [%r6];
"""


def test_a_bulk_copy_ends_a_phase() -> None:
    """Asked again and again by the simulator, waited for once here."""
    made = schedule(BULK, arch="sm_90")
    known, (warp,) = latencies(target("sm_90")), made.warps
    (wait,) = [one for one in warp.slices if one.cause == "an mbarrier"]
    bytes_ = 4096 / rates(target("sm_90")).l2_bytes + 4096 / 128
    assert known.l2 + bytes_ <= wait.end - wait.begin <= known.dram + 2 * bytes_ + known.barrier
    asked = [one for one in warp.slices if one.instruction.opcode == "mbarrier" and not one.cause]
    assert [one.instruction.modifiers[0] for one in asked] == ["init", "arrive", "try_wait"]


def test_waves() -> None:
    gpu, body = gpu_of(target("sm_80")), DEPENDENT * 50
    one = schedule(body, gpu.sms, resident=1)
    two = schedule(body, 2 * gpu.sms, resident=1)
    part = schedule(body, gpu.sms + 1, resident=1)
    assert (one.waves, two.waves, part.waves) == (1, 2, 2)
    assert two.cycles == pytest.approx(2 * one.cycles)
    assert part.cycles == pytest.approx(2 * one.cycles)
    # Two CTAs of a warp each go to two parts of the SM, and overlap.
    both = schedule(body, 2 * gpu.sms, resident=2)
    assert (both.waves, both.resident) == (1, 2)
    assert both.cycles == pytest.approx(one.cycles)


def test_an_sm_holds_what_shared_memory_and_warps_allow() -> None:
    report = simulated("st.shared.u32 [%r6], %r1;", ctas=1000)
    sm = target("sm_80")
    assert report.recording is not None
    held = sm.shared_per_sm // (8192 + 16 + sm.reserved_shared)
    assert report.recording.most in (held, held + 1)  # alignment of the variables apart
    assert report.recording.most <= sm.ctas_per_sm


def test_every_text_is_labelled_an_estimate() -> None:
    made = schedule(DEPENDENT)
    assert "estimate, not measured" in made.to_text().splitlines()[0]
    assert made.json()["kind"] == "estimate"
    assert made.limit == max(made.busy, key=lambda name: made.busy[name])
    assert all(0 <= share <= 1 for share in made.busy.values())


def test_the_trace_is_what_perfetto_takes() -> None:
    """Of the trace event format: complete and metadata events; those of a row do not overlap."""
    made = schedule(COPY + DEPENDENT * 20 + COPIED, threads=64)
    trace = json.loads(made.to_chrome())
    assert set(trace) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert trace["otherData"]["kind"] == "estimate"
    rows, names = defaultdict(list), {}
    for event in trace["traceEvents"]:
        assert {"name", "ph", "pid", "tid"} <= set(event)
        if event["ph"] == "M":
            names[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
            continue
        assert event["ph"] == "X"
        assert event["ts"] >= 0
        assert event["dur"] > 0
        rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in rows.values():
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(sorted(spans)))
    processes = [name for (what, _, _), name in names.items() if what == "process_name"]
    assert len(processes) == 2
    assert all("estimate" in name for name in processes)
    warps = {name for (what, pid, _), name in names.items() if (what, pid) == ("thread_name", 0)}
    assert warps == {"warp 0", "warp 1"}
    fmas = [e for e in trace["traceEvents"] if e["name"] == "fma.rn.f32" and e["pid"] == 0]
    assert len(fmas) == 40
    assert {e["args"]["line"] for e in fmas} == {e["args"]["line"] for e in fmas if e["tid"] == 0}
    hertz = gpu_of(target("sm_80")).hertz
    assert fmas[0]["ts"] == pytest.approx(fmas[0]["args"]["cycle"] / hertz * 1e6)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"checks": False}, "recording needs checks=True"),
        ({"every_order": True}, "recording and every_order exclude each other"),
        ({"recording": (1, 0, 0)}, "grid has"),
    ],
)
def test_what_cannot_be_recorded(how: dict, said: str) -> None:
    text = HEAD.format(arch="sm_80") + "ret;\n}\n"
    with pytest.raises(LaunchError, match=said):
        launch(text, "k", 1, 32, [np.zeros(64, np.uint32)], **{"recording": (0, 0, 0), **how})


def test_an_sm_holds_one_cta_at_least() -> None:
    report = simulated(DEPENDENT)
    assert report.recording is not None
    with pytest.raises(LaunchError, match="resident is 0"):
        report.recording.replay(resident=0)
    assert "recording" not in json.loads(report.to_json())
    assert report.timeline is None


def test_what_is_not_recorded_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "LIMIT", 50)
    report = simulated(DEPENDENT * 100)
    assert report.ok
    assert report.recording is not None
    made = report.recording.replay()
    assert made.cut
    assert made.json()["cut"]
    assert "of the beginning only" in made.to_text()
    assert made.cycles < 60 * 4


def test_a_state_of_an_mbarrier_is_waited_for() -> None:
    """Each warp waits for the phase of its own arrival, which the last to arrive completes."""
    body = (
        """
 setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [%r9], 64; bar.sync 0;
 setp.ne.u32 %p3, %r7, 0; @%p3 bra there;
"""
        + DEPENDENT * 100
        + """
there: mbarrier.arrive.shared.b64 %d20, [%r9];
again: mbarrier.test_wait.shared.b64 %p2, [%r9], %d20; @!%p2 bra again;
"""
    )
    made = schedule(body, threads=64)
    (wait,) = [one for one in made.warps[1].slices if one.cause == "an mbarrier"]
    assert wait.end - wait.begin == pytest.approx(100 * 4 + KNOWN.barrier, abs=20)
    assert not [one for one in made.warps[0].slices if one.cause == "an mbarrier"]
