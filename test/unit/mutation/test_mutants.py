"""The mutation benchmark: its operators change what they say, and its verdicts hold."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sim_mutants
from mutation.kernels import Arrays, Kernel, Launch, agrees, softmax
from mutation.operators import Mutant, mutants
from mutation.table import markdown, table

DOUBLE = """.version 8.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 x, .param .u64 y) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 buffer[128];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r2, %r2, %r2;
  st.global.u32 [%rd2], %r2;
  ret;
}
"""


def test_operators_change_one_line() -> None:
    ptx = """bar.sync 0;
cp.async.wait_group 1;
bar.warp.sync -1;
st.shared.v4.b32 [%r1+16], {%r2, %r3, %r4, %r5};
mov.b32 %r6, 0;
add.s32 %r6, %r6, 1;"""
    found = list(mutants(ptx, 0, random.Random(0)))
    assert {m.line for m in found} == {1, 2, 3, 4, 5}
    assert {m.operator for m in found if m.line == 2} == {
        "no wait for a copy",
        "a weaker wait for a copy",
    }
    for mutant in found:
        pairs = zip(ptx.splitlines(), mutant.text.split("\n"), strict=True)
        assert [n for n, (a, b) in enumerate(pairs, 1) if a != b] == [mutant.line]
    weaker = next(m for m in found if m.operator == "a weaker wait for a copy")
    assert "cp.async.wait_group 2;" in weaker.text


def doubled(values: Arrays) -> np.ndarray:
    return values[0] * 2


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    path = tmp_path / "double.ptx"
    path.write_text(DOUBLE)
    launch = Launch((1,), (((128,), "uint32"), ((128,), "uint32")))
    return Kernel(str(path), "sm_80", "double", doubled, (launch,))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", ("unchanged", "")),
        ("add.u32 %r2, %r2, %r2;", "shl.b32 %r2, %r2, 1;", ("unchanged", "")),
        ("add.u32 %r2, %r2, %r2;", "add.u32 %r2, %r2, 1;", ("wrong", "")),
        ("[%rd2], %r2", "[%rd2+4], %r2", ("found", "out-of-bounds")),
        ("[%rd2], %r2", "[%rd2], %r3", ("found", "uninitialised")),
        (
            "ld.global",
            "and.b32 %r3, %r1, 0; st.shared.u32 [buffer], %r3; ld.global",
            ("advised", "same-value"),
        ),
    ],
)
def test_verdicts(kernel: Kernel, old: str, new: str, expected: tuple[str, str]) -> None:
    text = DOUBLE.replace(old, new)
    assert sim_mutants.judge(kernel, Mutant("", "", 1, text), 0) == expected


def test_a_later_launch_finds_what_the_first_does_not_reach(kernel: Kernel) -> None:
    text = DOUBLE.replace("[%rd2], %r2", "[%rd2+112], %r2")
    few, more = (Launch((1,), (((n,), "uint32"), ((n,), "uint32"))) for n in (160, 128))
    judged = [
        sim_mutants.judge(replace(kernel, launches=launches), Mutant("", "", 1, text), 0)
        for launches in ((few,), (few, more))
    ]
    assert judged[0][0] != "found"
    assert judged[1] == ("found", "out-of-bounds")


def test_a_kernel_that_is_wrong_itself_is_refused(kernel: Kernel) -> None:
    wrong = replace(kernel, expected=lambda values: values[0] * 3)
    with pytest.raises(SystemExit, match="itself"):
        sim_mutants.examine(wrong, 0, 0, random.Random(0))


def test_whole_numbers_are_compared_exactly() -> None:
    whole = np.array([1.0, 2.0])
    assert agrees(whole, whole)
    assert not agrees(whole + 1e-6, whole)
    parts = softmax([np.array([[0.0, 1.0]]), np.zeros((1, 2), np.float32)])
    assert agrees(parts * np.float32(1 + 1e-6), parts)
    assert not agrees(parts * np.float32(1 + 1e-4), parts)
    assert not agrees(parts * np.nan, parts)


def test_the_tables() -> None:
    verdicts = ["found"] * 6 + ["advised"] + ["wrong"] + ["incomplete"] + ["equivalent"] * 2
    verdicts += ["unchanged"]
    found = [
        {
            "class": "synchronisation",
            "operator": "no barrier",
            "verdict": verdict,
            "kind": "order-race" if verdict == "found" else "",
        }
        for verdict in verdicts
    ]
    cells = ["12", "6", "6", "1", "1", "1", "2", "1", "60.0%", "70.0%", "80.0%"]
    rows = list(table(found))
    assert rows[1].split() == ["synchronisation", *cells]
    assert [row.split()[0] for row in rows[2:]] == ["no", "all"]
    assert [one.strip() for one in list(markdown(found))[2].split("|")[1:-1]] == [
        "synchronisation", *cells,
    ]  # fmt: skip
