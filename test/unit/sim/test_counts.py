"""Counts against numbers worked out by hand: instructions, wavefronts, sectors, lines, JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tilec.sim import Report, launch

HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
  .shared .align 16 .b8 buffer[16384];
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x; mov.u32 %r3, buffer;
"""


def run(body: str, grid: int = 1, block: int = 64) -> tuple[Report, int]:
    """The report, and the index of the first instruction of the body among its lines."""
    text = f"{HEAD}{body}\n  ret;\n}}\n"
    report = launch(text, "k", grid, block, [np.zeros(1 << 16, np.uint32)])
    assert report.completed
    return report, 3


@pytest.mark.parametrize(
    ("width", "stride", "wavefronts", "conflicts"),
    [
        (4, 4, 1, 0),
        (4, 8, 2, 1),
        (4, 128, 32, 31),
        (4, 132, 1, 0),
        (4, 0, 1, 0),
        (2, 2, 1, 0),
        (8, 8, 2, 0),
        (16, 16, 4, 0),
        (16, 128, 32, 28),
    ],
)
def test_shared_wavefronts(width: int, stride: int, wavefronts: int, conflicts: int) -> None:
    source = {2: "u16 [%r5], %h", 4: "u32 [%r5], %r3", 8: "v2.u32 [%r5], {%r3, %r3}",
              16: "v4.u32 [%r5], {%r3, %r3, %r3, %r3}"}[width]  # fmt: skip
    body = f"""
  .reg .b16 %h; mov.b16 %h, 1;
  and.b32 %r4, %r1, 31; mad.lo.u32 %r5, %r4, {stride}, %r3;
  setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.{source};
"""
    report, _ = run(body, grid=3)
    assert (report.wavefronts, report.conflicts) == (3 * wavefronts, 3 * conflicts)


@pytest.mark.parametrize(
    ("width", "stride", "sectors"),
    [(4, 4, 4), (4, 8, 8), (4, 32, 32), (4, 0, 1), (4, -4, 5), (8, 8, 8), (16, 16, 16), (1, 1, 1)],
)
def test_global_sectors(width: int, stride: int, sectors: int) -> None:
    type_ = {1: "u8 {%r6}", 4: "u32 {%r6}", 8: "v2.u32 {%r6, %r7}",
             16: "v4.u32 {%r6, %r7, %r8, %r9}"}[width]  # fmt: skip
    body = f"""
  and.b32 %r4, %r1, 31; cvt.s64.s32 %rd2, %r4; mad.lo.s64 %rd3, %rd2, {stride}, %rd1;
  add.s64 %rd3, %rd3, 4096;
  ld.global.{type_.replace(" ", " ")}, [%rd3];
""".replace("{%r6},", "%r6,")
    report, _ = run(body, grid=2)
    assert report.requests == 4
    assert report.sectors == 4 * sectors


def test_instructions_of_diverged_warps() -> None:
    body = """
  mov.u32 %r5, 0;
LOOP:
  setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;
  add.u32 %r5, %r5, 1;
  bra LOOP;
DONE:
  bar.sync 0;
"""
    report, first = run(body)
    by_name = {line.instruction: line for line in report.lines[first:]}
    # Lane i takes i turns: warp 0 takes 31 and leaves in the 32nd, warp 1 takes 63.
    assert by_name["setp.ge.u32"].warps == 32 + 64
    assert by_name["add.u32"].warps == 31 + 63
    assert by_name["add.u32"].threads == sum(range(64))
    assert by_name["bar.sync"].warps == report.barriers == 2
    assert report.warp_instructions == sum(line.warps for line in report.lines)
    assert report.thread_instructions == sum(line.threads for line in report.lines)


def test_text_and_json() -> None:
    report, _ = run("st.shared.u32 [%r3], %r3;\n bar.sync 0;", grid=2)
    data = json.loads(report.to_json())
    assert data["kernel"] == "k"
    assert data["ok"] is True
    assert data["barriers"] == 4
    assert data["instructions"] == {"mov": 8, "ld": 4, "st": 4, "bar": 4, "ret": 4}
    assert [line["line"] for line in data["lines"]] == sorted(n.line for n in report.lines)
    text = report.to_text(lines=True)
    assert "no findings" in text
    assert "st.shared.u32" in text
