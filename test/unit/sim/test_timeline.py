"""Timelines: the steps of programs that are short enough to be counted by hand, and of a GEMM."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from tilec.sim import LaunchError, SimulationError, Timeline, launch

from .specialised_gemm import run, text

TWO_WARPS = """\
.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 a)
{
  .reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<2>;
  .shared .align 16 .b8 s[16];
  ld.param.u64 %d1, [a];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p, %r1, 32;
  @%p bra FIRST;
  bar.sync 1, 64;
  bra END;
FIRST:
  mov.u32 %r2, s;
  cp.async.ca.shared.global [%r2], [%d1], 16;
  cp.async.commit_group;
  mov.u32 %r1, 0;
  cp.async.wait_group 0;
  bar.sync 1, 64;
END:
  ret;
}
"""


def two_warps(ptx: str = TWO_WARPS, cta: tuple[int, ...] = (0,), grid: int = 1) -> Timeline:
    report = launch(ptx, "k", grid, 64, [np.zeros(16, np.uint8)], checks=False, timeline=cta)
    assert report.timeline is not None
    return report.timeline


def runs(timeline: Timeline, warp: int) -> list[tuple[str, int, int]]:
    return [(run.kind, run.first, run.last) for run in timeline.warps[warp].runs]


def test_steps_are_counted_in_the_order_of_issue() -> None:
    """The second warp stands first in the text, comes to the barrier, and waits for the first."""
    found = two_warps()
    assert found.steps == 13
    assert runs(found, 0) == [
        ("other", 0, 3), ("other", 5, 5), ("copy", 6, 6), ("sync", 7, 7), ("other", 8, 8),
        ("sync", 9, 10), ("other", 12, 12),
    ]  # fmt: skip
    assert runs(found, 1) == [("other", 0, 3), ("sync", 4, 4), ("other", 11, 12)]
    (wait,) = found.warps[1].waits
    assert (wait.first, wait.last, wait.cause) == (5, 10, "barrier 1 of the CTA")
    assert TWO_WARPS.splitlines()[wait.line - 1].strip() == "bar.sync 1, 64;"
    assert found.warps[0].waits == []


def test_a_copy_is_in_flight_until_it_is_waited_for() -> None:
    (flight,) = two_warps().flights
    assert (flight.kind, flight.warps, flight.first, flight.last) == ("load", (0,), 6, 9)
    without = two_warps(TWO_WARPS.replace("  cp.async.wait_group 0;\n", ""))
    assert without.flights[0].last == without.steps - 1


def test_groups_of_copies_end_one_after_the_other() -> None:
    """wait_group 1 leaves the second group, which wait_all ends."""
    copy = "  cp.async.ca.shared.global [%r2], [%d1], 16;\n"
    group = "  cp.async.commit_group;\n"
    waits = "  cp.async.wait_group 1;\n  cp.async.wait_all;\n"
    ptx = TWO_WARPS.replace(copy + group, copy * 2 + group + copy)
    found = two_warps(ptx.replace("  cp.async.wait_group 0;\n", group + waits))
    assert [(f.first, f.last, f.count) for f in found.flights] == [(6, 12, 2), (9, 13, 1)]


def test_another_cta_and_none() -> None:
    there = two_warps(cta=(2, 0, 0), grid=3)
    assert (there.cta, there.steps) == ((2, 0, 0), 13)
    for wrong in ((3,), (0, 1), (0, 0, 0, 0), (-1,)):
        with pytest.raises(LaunchError, match="the grid has"):
            two_warps(cta=wrong, grid=3)


@pytest.mark.parametrize("order", [None, 1])
def test_a_producer_and_its_consumers(order: int | None) -> None:
    """Every box of A, 128 x 64, and of B, 64 x 64, of two tiles; four products of K 16 a box."""
    report, _, _ = run(text(), 256, 64, 320, tiles=2, order=order, timeline=(0, 0, 0))
    found = report.timeline
    assert found is not None
    assert not found.cut
    assert [one.role for one in found.warps] == ["producer", "", "", "", *["consumer"] * 8]
    loads = [flight for flight in found.flights if flight.kind == "load"]
    assert sum(flight.bytes for flight in loads) == 2 * 5 * (128 + 64) * 64 * 2
    assert all(flight.warps == (0,) for flight in loads)
    products = [flight for flight in found.flights if flight.kind == "product"]
    for warp in range(4, 12):
        assert sum(flight.count for flight in products if warp in flight.warps) == 2 * 5 * 4
    assert any("mbarrier" in wait.cause for wait in found.warps[0].waits)
    # No product begins before the boxes that it reads have come.
    first = min(flight.first for flight in products)
    assert sum(flight.last < first for flight in loads) >= 2


def test_every_instruction_but_those_that_ask_again_is_in_it() -> None:
    report, _, _ = run(text(), 128, 64, 128, tiles=1, timeline=(0, 0, 0))
    found = report.timeline
    assert found is not None
    issued = sum(run.last - run.first + 1 for one in found.warps for run in one.runs)
    asked_again = report.waits_in_vain
    assert report.warp_instructions - 3 * asked_again <= issued <= report.warp_instructions


@pytest.mark.parametrize("order", [None, 3])
def test_recording_changes_nothing(order: int | None) -> None:
    plain, c, _ = run(text(), 200, 72, 200, tiles=1, order=order)
    recorded, d, _ = run(text(), 200, 72, 200, tiles=1, order=order, timeline=(1, 1, 0))
    assert np.array_equal(c, d)
    assert replace(recorded, timeline=None) == plain
    assert recorded.to_json() == plain.to_json()


def test_a_long_run_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilec.sim.timeline.recorder.LIMIT", 50)
    report, _, _ = run(text(), timeline=(0, 0, 0))
    assert report.timeline is not None
    assert report.timeline.cut
    assert "is not recorded any further" in report.timeline.to_html()
    assert all(f.last < report.timeline.steps for f in report.timeline.flights)


def test_a_deadlock_has_a_timeline() -> None:
    """Who waits at the end waits until the last step."""
    stuck = TWO_WARPS.replace("bar.sync 1, 64;\nEND", "bar.sync 2, 64;\nEND")
    with pytest.raises(SimulationError) as caught:
        two_warps(stuck)
    report = caught.value.report
    assert report is not None
    assert report.timeline is not None
    assert report.timeline.warps[1].waits[0].last == report.timeline.steps - 1


class _Parts(HTMLParser):
    """How many of each element a page has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.bars: list[dict[str, str | None]] = []
        self.requests: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "rect":
            self.bars.append(found)
        self.requests += [v or "" for n, v in attrs if n in ("src", "href")]


def test_a_page_draws_every_run_wait_and_flight() -> None:
    found = two_warps()
    page = found.to_html()
    parts = _Parts(page)
    assert sorted(
        (bar["class"], int(bar["x"] or 0), int(bar["width"] or 0)) for bar in parts.bars
    ) == (
        sorted(
            [
                *((r.kind, r.first, r.last - r.first + 1) for w in found.warps for r in w.runs),
                ("wait", 5, 6),
                ("load", 6, 4),
            ]
        )
    )
    assert parts.requests == []
    assert "not time" in page


def test_names_in_a_page_stay_text() -> None:
    found = two_warps()
    found.kernel = "<b>{{rows}}"
    assert "<b>" not in found.to_html()
    assert "&lt;b&gt;{{rows}}" in found.to_html()


def test_json_has_the_names_of_the_attributes() -> None:
    found = two_warps()
    data = json.loads(found.to_json())
    assert data["cta"] == [0, 0, 0]
    assert data["flights"][0]["instruction"] == "cp.async.ca.shared.global"
    assert [one["warp"] for one in data["warps"]] == [0, 1]
    assert repr(found) == "<timeline of CTA (0, 0, 0) of kernel k: 2 warps, 13 steps>"
