"""Faults that the order which runs does not show, in kernels of a few warps with a role each."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np
import pytest
from tilec.sim import LaunchError, Report, launch

HEAD = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
 .reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
 .shared .align 128 .b8 data[512];
 .shared .align 8 .b64 full; .shared .align 8 .b64 back;
 ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;
 mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; setp.eq.u32 %p1, %r3, 0;
 shl.b32 %r4, %r3, 2; mov.u32 %r5, data; add.u32 %r5, %r5, %r4;
 setp.ne.u32 %p2, %r1, 0; @%p2 bra MADE;
 mbarrier.init.shared::cta.b64 [full], FULL; mbarrier.init.shared::cta.b64 [back], BACK;
MADE:
 bar.sync 0;
"""
WRITE = "st.shared.u32 [%r5], %r1;"
READ = "ld.shared.u32 %r6, [%r5];"
ARRIVE = "@%p1 mbarrier.arrive.shared::cta.b64 _, [full];"
EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;"
ONLY_EXPECT = "@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 16;"
COPY = (
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    " [data], [%rd1], 16, [full];"
)
STORE = (
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [data], 16;"
    " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
)
FENCE = "fence.proxy.async.shared::cta;"


def back(parity: int) -> str:
    return wait(parity, "back")


def wait(parity: int, name: str = "full") -> str:
    return f"@W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [{name}], {parity}; @!%p3 bra @W;"


def program(roles: list[str], full: int = 1, back_: int = 1) -> str:
    """A kernel whose warps do this."""
    text = HEAD.replace("FULL", str(full)).replace("BACK", str(back_))
    for warp in range(len(roles)):
        text += f" setp.eq.u32 %p4, %r2, {warp}; @%p4 bra ROLE{warp};\n"
    for warp, role in enumerate(roles):
        text += f"ROLE{warp}:\n"
        for step in role.split("\n"):
            number = text.count("try_wait")
            text += " " + step.strip().replace("@W", f"WAIT{number}") + "\n"
        text += " bra.uni END;\n"
    return text + "END:\n ret;\n}\n"


def run(roles: list[str], counts: tuple[int, int] = (1, 1), *, every: bool = True) -> Report:
    out = np.zeros(64, np.uint32)
    text = program(roles, *counts)
    return launch(text, "k", 1, 32 * len(roles), [out], every_order=every)


@dataclass(frozen=True)
class Fault:
    """What warps do, right and wrong, and what is found, at a line with this in it."""

    right: list[str]
    wrong: list[str]
    kind: str
    line: str
    full: int = 1
    back: int = 1
    full_wrong: int = 1
    back_wrong: int = 1


FAULTS = {
    # Arrives twice before the other has come once.
    "a barrier without a way back": Fault(
        ["bar.arrive 1, 64;\nbar.sync 2, 64;\nbar.arrive 1, 64;",
         "bar.sync 1, 64;\nbar.arrive 2, 64;\nbar.sync 1, 64;"],
        ["bar.arrive 1, 64;\nbar.arrive 1, 64;", "bar.sync 1, 64;\nbar.sync 1, 64;"],
        "order-barrier", "bar.arrive 1"),
    # If warp 2 takes the arrival that warp 1 waits for, nobody goes on.
    "swapped ids of barriers": Fault(
        ["bar.arrive 1, 64;\nbar.sync 2, 64;\nbar.arrive 3, 64;",
         "bar.sync 1, 64;\nbar.arrive 2, 64;", "bar.sync 3, 64;"],
        ["bar.arrive 1, 64;\nbar.sync 2, 64;\nbar.arrive 1, 64;",
         "bar.sync 1, 64;\nbar.arrive 2, 64;", "bar.sync 1, 64;"],
        "order-deadlock", "bar.sync 2"),
    # Nobody waits for warp 2 before the next phase.
    "a phase that a waiter may miss": Fault(
        [f"{ARRIVE}\n{back(0)}\n{ARRIVE}",
         f"{wait(0)}\n{ARRIVE.replace('full', 'back')}\n{wait(1)}",
         f"{wait(0)}\n{ARRIVE.replace('full', 'back')}"],
        [f"{ARRIVE}\n{back(0)}\n{ARRIVE}",
         f"{wait(0)}\n{ARRIVE.replace('full', 'back')}\n{wait(1)}", wait(0)],
        "order-mbarrier", "try_wait", back=2),
    # The waits between are missing: the third phase has the parity of the first.
    "a removed wait": Fault(
        [f"{ARRIVE}\n{back(0)}\n{ARRIVE}\n{back(1)}\n{WRITE}\n{ARRIVE}",
         f"{wait(0)}\n{ARRIVE.replace('full', 'back')}\n{wait(1)}\n"
         f"{ARRIVE.replace('full', 'back')}\n{wait(0)}\n{READ}"],
        [f"{ARRIVE}\n{ARRIVE}\n{WRITE}\n{ARRIVE}", f"{wait(0)}\n{READ}"],
        "order-mbarrier", "try_wait"),
    # The fence is before the barrier, on the side of the reader.
    "a fence of the proxies that may come too early": Fault(
        [f"bar.sync 1, 64;\n{STORE}", f"{WRITE}\n{FENCE}\nbar.sync 1, 64;"],
        [f"{FENCE}\nbar.sync 1, 64;\n{STORE}", f"{WRITE}\nbar.sync 1, 64;"],
        "order-proxy", "bulk.global.shared"),
    # Warp 1 may complete the phase before warp 2 has bytes expected.
    "bytes that are expected too late": Fault(
        [f"{wait(0)}\n{READ}", ARRIVE, f"{EXPECT}\n{COPY}"],
        [f"{wait(0)}\n{READ}", ARRIVE, f"{ONLY_EXPECT}\n{COPY}"],
        "order-", "", full=2, full_wrong=1),
    # Two of the three warps are enough.
    "a barrier of too few threads": Fault(
        [f"bar.sync 1, 96;\n{READ}", f"{WRITE}\nbar.arrive 1, 96;", "bar.arrive 1, 96;"],
        [f"bar.sync 1, 64;\n{READ}", f"{WRITE}\nbar.arrive 1, 64;", "bar.arrive 1, 64;"],
        "order-", ""),
}  # fmt: skip


def counts(fault: Fault, *, wrong: bool) -> tuple[int, int]:
    """Arrivals that the mbarriers expect."""
    return (fault.full_wrong, fault.back_wrong) if wrong else (fault.full, fault.back)


@pytest.mark.parametrize("name", FAULTS)
def test_right(name: str) -> None:
    report = run(FAULTS[name].right, counts(FAULTS[name], wrong=False))
    assert report.verdict == "passed", report.to_text()
    assert report.orders is not None
    assert report.orders.orders == 1


@pytest.mark.parametrize("name", FAULTS)
def test_only_another_order_shows_it(name: str) -> None:
    fault = FAULTS[name]
    given = counts(fault, wrong=True)
    assert run(fault.wrong, given, every=False).verdict == "passed"
    report = run(fault.wrong, given)
    assert report.verdict == "failed"
    first = report.findings[0]
    assert first.kind.startswith(fault.kind), report.to_text()
    line = program(fault.wrong, *given).splitlines()[first.line - 1]
    assert fault.line in line, report.to_text()
    assert first.order
    assert re.search(r"warp \d of CTA \(0, 0, 0\)", first.message)


@pytest.mark.parametrize(
    ("role", "why"),
    [
        ("mbarrier.test_wait.parity.shared::cta.b64 %p3, [full], 1;\n@%p3 " + WRITE,
         "asks an mbarrier and goes on either way"),
        ("atom.shared.add.u32 %r6, [%r5], 1;\nst.shared.u32 [%r5], %r6;",
         "reads what depends on the order"),
        ("ld.volatile.shared.u32 %r6, [%r5];", "reads what depends on the order"),
        ("mov.u32 %r6, %clock;", "reads a clock"),
        ("mov.u32 %r6, %globaltimer_hi;", "reads a clock"),
        ("@%p1 bra LEADER;\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 1;\nbra JOIN;\n"
         "LEADER: mbarrier.try_wait.parity.shared::cta.b64 %p3, [back], 1;\nJOIN:",
         "lanes of one warp wait apart at lines"),
    ],
)  # fmt: skip
def test_incomplete(role: str, why: str) -> None:
    """What threads do may depend on the order: that is said, and is not a pass."""
    setup = WRITE if "data" in role or "[%r5]" in role else ""
    report = run([f"{setup}\n{role}"])
    assert report.verdict == "incomplete"
    assert not report.ok
    assert why in report.unchecked[0]
    assert run([f"{setup}\n{role}"], every=False).verdict == "passed"


def test_an_atomic_whose_result_is_dropped_is_no_reason() -> None:
    roles = ["red.shared.add.u32 [data], 1;"] * 2
    setup = [f"{WRITE}\nbar.sync 1, 64;\n{roles[0]}\nbar.sync 1, 64;\n{READ}",
             f"bar.sync 1, 64;\n{roles[1]}\nbar.sync 1, 64;\n{READ}"]  # fmt: skip
    assert run(setup).verdict == "passed"


def test_a_limit() -> None:
    roles = ["bar.sync 1, 64;\nbar.sync 2, 64;"] * 2
    out = np.zeros(64, np.uint32)
    text = program(roles)
    report = launch(text, "k", 1, 64, [out], every_order=True, order_limit=5)
    assert report.verdict == "incomplete"
    assert "limit" in report.unchecked[0]


def test_checks_are_needed() -> None:
    with pytest.raises(LaunchError, match="every_order=True needs checks=True"):
        launch(program([WRITE]), "k", 1, 32, [np.zeros(64)], checks=False, every_order=True)


def test_the_report_has_the_steps() -> None:
    fault = FAULTS["swapped ids of barriers"]
    report = run(fault.wrong)
    assert report.orders is not None
    data = json.loads(report.to_json())
    assert data["orders"] == {"traces": 1, "orders": 1, "steps": report.orders.steps}
    (finding,) = data["findings"]
    assert all(re.match(r"warp \d of CTA \(0, 0, 0\): bar", step) for step in finding["order"][-4:])
    assert "\n  warp 2 of CTA" in report.to_text()
    assert "orders of warps explored" in report.to_text()


FLAG = "st.shared.u32 [data], VALUE;\nbar.sync 0;\nld.shared.u32 %r6, [data];"


def test_one_value_of_several_warps_is_advice_in_every_order() -> None:
    """Warps store one value at once, by all lanes or one: no order shows a race."""
    text = HEAD.replace("FULL", "1").replace("BACK", "1") + FLAG + "\nret;\n}\n"
    kinds = []
    for value in ("7", "%r3", "%r2"):
        stored = text.replace("VALUE", value)
        if value == "%r3":  # lane 0 of each warp
            stored = stored.replace("st.shared", "@%p1 st.shared")
        report = launch(stored, "k", 1, 128, [np.zeros(64, np.uint32)], every_order=True)
        kinds.append(({one.kind for one in report.findings}, {one.kind for one in report.advice}))
    assert kinds == [(set(), {"same-value"}), (set(), {"same-value"}), ({"race"}, set())]


def test_one_value_of_a_warp_behind_a_read_is_a_race() -> None:
    """The second store of the same value comes after the other warp's read, by nothing ordered."""
    role = "st.shared.u32 [data], 7;\nbar.sync 1, 64;\nld.shared.u32 %r6, [data];"
    store = "bar.sync 1, 64;\nst.shared.u32 [data], 7;"
    assert {one.kind for one in run([role, store]).findings} & {"race", "order-race"}
