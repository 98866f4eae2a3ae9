"""What the driver gives a kernel: a barrier of the grid, variables set from the host, a heap."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tilec.sim import LaunchError, check, launch

HERE = Path(__file__).parent

BARRIER = """
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 table[16];
.global .align 4 .u32 total;
.global .align 8 .b8 unused[24] = {1, 2, 3};
.shared .align 4 .b8 tile[4];
.visible .entry sweep(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .b64 %d<12>;
  mov.u32 %r1, %envreg2;
  cvt.u64.u32 %d1, %r1;
  mov.u32 %r2, %envreg1;
  cvt.u64.u32 %d2, %r2;
  bfi.b64 %d3, %d2, %d1, 32, 32;
  ld.param.u64 %d4, [x];
  ld.param.u64 %d5, [y];
  ld.param.u32 %r3, [n];
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %ntid.x;
  mad.lo.u32 %r7, %r5, %r6, %r4;
  and.b32 %r8, %r7, 3;
  mul.wide.u32 %d6, %r8, 4;
  mov.u64 %d7, table;
  add.u64 %d7, %d7, %d6;
  ld.const.u32 %r9, [%d7];
  mul.wide.u32 %d8, %r7, 4;
  add.u64 %d9, %d4, %d8;
  st.global.u32 [%d9], %r9;
  atom.global.add.u32 %r10, [total], 1;
  bar.sync 0;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra met;
  mov.u32 %r11, %nctaid.x;
  atom.add.release.gpu.u32 %r12, [%d3+4], 1;
wait:
  ld.acquire.gpu.u32 %r13, [%d3+4];
  setp.lt.u32 %p2, %r13, %r11;
  @%p2 bra wait;
met:
  bar.sync 0;
  sub.u32 %r14, %r3, %r7;
  sub.u32 %r14, %r14, 1;
  mul.wide.u32 %d10, %r14, 4;
  add.u64 %d10, %d4, %d10;
  ld.global.u32 %r15, [%d10];
  add.u64 %d11, %d5, %d8;
  st.global.u32 [%d11], %r15;
  ret;
}
"""

HEAP = """
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 func_retval0) malloc (.param .b64 malloc_param_0);
.extern .func free (.param .b64 free_param_0);
.visible .entry k(.param .u64 x, .param .u64 size)
{{
  .reg .b32 %r<4>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [x];
  ld.param.u64 %d2, [size];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d4, %r1, 8;
  add.u64 %d1, %d1, %d4;
  {{
    .param .b64 p;
    .param .b64 found;
    st.param.b64 [p], %d2;
    call.uni (found), malloc, (p);
    ld.param.b64 %d3, [found];
  }}
  {body}
  ret;
}}
"""
FREE = "{ .param .b64 q; st.param.b64 [q], %d3; call.uni free, (q); }"


def test_grid_barrier_and_symbols() -> None:
    n = 5 * 64
    x, y = np.zeros(n, np.int32), np.zeros(n, np.int32)
    table, total = np.array([7, 1, 2, 9], np.int32), np.full((), 3, np.uint32)
    assert not check(BARRIER)
    symbols = {"table": table, "total": total}
    launch(BARRIER, "sweep", 5, 64, [x, y, n], symbols=symbols).require_ok()
    np.testing.assert_array_equal(y, np.tile(table, n // 4)[::-1])
    assert total == 3 + n  # changed in place
    np.testing.assert_array_equal(table, [7, 1, 2, 9])


def test_grid_barrier_that_not_all_come_to() -> None:
    """A cooperative launch of more CTAs than a device holds is refused by the driver."""
    x = np.zeros(32 * 10000, np.int32)
    with pytest.raises(
        LaunchError, match="barrier of the whole grid, 10000 CTAs, of which at most 4224"
    ):
        launch(BARRIER, "sweep", 10000, 32, [x, x.copy(), x.size])


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("tables", np.zeros(4, np.int32), "no .global or .const variable 'tables'; it has table"),
        ("tile", np.zeros(1, np.int32), "no .global or .const variable 'tile'"),
        ("table", np.zeros(5, np.int32), "'table' has 16 bytes; the array has 20"),
        ("table", [1, 2, 3, 4], "'table' takes a numpy array, not list"),
    ],
)
def test_symbols_that_do_not_fit(name: str, value: object, reason: str) -> None:
    x = np.zeros(32, np.int32)
    with pytest.raises(LaunchError, match=reason):
        launch(BARRIER, "sweep", 1, 32, [x, x.copy(), 32], symbols={name: value})  # type: ignore[dict-item]


def test_initial_values_stay_behind_what_is_set() -> None:
    x, unused = np.zeros(32, np.int32), np.array([9], np.uint8)
    launch(BARRIER, "sweep", 1, 32, [x, x.copy(), 32], symbols={"unused": unused}).require_ok()
    np.testing.assert_array_equal(unused, [9])


def test_heap_gives_each_thread_its_own() -> None:
    x = np.zeros(64, np.uint64)
    body = f"st.u64 [%d3], %d3; ld.u64 %d5, [%d3]; st.global.u64 [%d1], %d5; {FREE}"
    launch(HEAP.format(body=body), "k", 1, 64, [x, np.uint64(24)]).require_ok()
    ordered = np.sort(x)
    assert (x % 16 == 0).all()
    assert (np.diff(ordered) >= 24).all()


PRINT = """
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 p0, .param .b64 p1);
.global .align 1 .b8 words[8] = {37, 100, 37, 37, 37, 100, 10, 0};
.visible .entry k(.param .u64 x)
{
  .local .align 8 .b8 depot[8];
  .reg .b32 %r;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [x];
  mov.u64 %d2, depot;
  cvta.local.u64 %d2, %d2;
  mov.u64 %d3, words;
  cvta.global.u64 %d3, %d3;
  st.u32 [%d2], 4;
  st.u32 [%d2+4], 5;
  {
    .param .b64 p;
    .param .b64 q;
    .param .b32 printed;
    st.param.b64 [p], %d3;
    st.param.b64 [q], %d2;
    call.uni (printed), vprintf, (p, q);
    ld.param.b32 %r, [printed];
  }
  st.global.u32 [%d1], %r;
  ret;
}
"""


def test_printf_returns_how_many_it_printed() -> None:
    x = np.zeros(1, np.uint32)
    assert launch(PRINT, "k", 1, 1, [x]).require_ok().output == "4%5\n"
    assert x[0] == 2


def test_heap_without_room_gives_null() -> None:
    x = np.ones(64, np.uint64)
    body = "st.global.u64 [%d1], %d3;"
    launch(HEAP.format(body=body), "k", 1, 64, [x, np.uint64(1 << 20)]).require_ok()
    assert 0 < np.count_nonzero(x) <= 8


def test_what_is_freed_is_given_again_when_all_else_is_given() -> None:
    """Warp after warp, each of which takes nearly the whole heap."""
    x = np.zeros(640, np.uint64)
    body = f"{FREE} st.global.u64 [%d1], %d3;"
    launch(HEAP.format(body=body), "k", 1, 640, [x, np.uint64(250_000)], order=0).require_ok()
    assert x.all()
    assert np.unique(x).size < 64


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("st.u8 [%d3+24], 1;", "out-of-bounds", "past the end of malloc'ed 24 bytes"),
        (f"{FREE} st.u64 [%d3], 1;", "out-of-bounds", "writes 8 bytes"),
        (f"{FREE} {FREE}", "heap", "which malloc did not return, or which is already freed"),
        (f"add.u64 %d3, %d3, 8; {FREE}", "heap", "which malloc did not return"),
    ],
)
def test_heap_misused(body: str, kind: str, words: str) -> None:
    report = launch(HEAP.format(body=body), "k", 1, 1, [np.zeros(1, np.uint64), np.uint64(24)])
    (finding,) = report.findings
    assert finding.kind == kind
    assert words in finding.message


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_cuda_programs(tmp_path: Path) -> None:
    target = tmp_path / "cooperative.ptx"
    command = ["nvcc", "-arch=sm_80", "-ptx", HERE / "cooperative.cu", "-o", target]
    subprocess.run(command, check=True, capture_output=True)
    n = 4 * 96
    x, y = np.zeros(n, np.int32), np.zeros(n, np.int32)
    table, total = np.array([1, 2, 3, 4], np.int32), np.zeros(1, np.uint32)
    symbols = {"table": table, "total": total}
    launch(target, "sweep", 4, 96, [x, y, n], symbols=symbols).require_ok()
    first = 3 * np.arange(n) + np.tile(table, n // 4)
    np.testing.assert_array_equal(y, first[::-1])
    np.testing.assert_array_equal(x, np.roll(first[::-1], -7))
    assert total[0] == n
    out = np.zeros(64, np.int32)
    launch(target, "sums", 1, 64, [out, 10]).require_ok()
    np.testing.assert_array_equal(out, 45 * np.arange(64))
