"""`cp.async.bulk`: reductions in global memory, groups, sizes; and `setmaxnreg`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import ml_dtypes
import numpy as np
import pytest
from tilec.sim import Report, check, launch, read
from tilec.sim.register_pool import at_entry

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 buffer[1024];
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 bytes)
DIRECTIVES
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r2, [bytes];
 mov.u32 %r1, %tid.x; mov.u32 %r3, buffer; setp.eq.u32 %p1, %r1, 0; shl.b32 %r4, %r1, 4;
 cvt.u64.u32 %rd3, %r4; add.s64 %rd3, %rd1, %rd3; add.u32 %r5, %r3, %r4;
"""
REDUCE = """ ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd3];
 st.shared.v4.u32 [%r5], {%r6, %r7, %r8, %r9};
 fence.proxy.async.shared::cta; bar.sync 0;
 @%p1 OPERATION [%rd2], [%r3], %r2;
 @%p1 cp.async.bulk.commit_group;
 @%p1 cp.async.bulk.wait_group 0;
"""


def text(body: str, directives: str = "") -> str:
    return f"{HEAD.replace('DIRECTIVES', directives)}{body} ret;\n}}\n"


def run(body: str, x: np.ndarray, y: np.ndarray, threads: int = 32) -> Report:
    return launch(text(body), "k", 1, threads, [x, y, x.nbytes])


def wrapping(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(old >= new, 0, old + 1)


REDUCTIONS = [
    ("add.u32", np.uint32, np.add), ("add.s32", np.int32, np.add), ("add.u64", np.uint64, np.add),
    ("add.f32", np.float32, np.add), ("add.f64", np.float64, np.add),
    ("add.noftz.f16", np.float16, np.add), ("add.noftz.bf16", ml_dtypes.bfloat16, np.add),
    ("min.s64", np.int64, np.minimum), ("max.u32", np.uint32, np.maximum),
    ("max.f16", np.float16, np.maximum), ("min.bf16", ml_dtypes.bfloat16, np.minimum),
    ("inc.u32", np.uint32, wrapping), ("and.b32", np.uint32, np.bitwise_and),
    ("or.b64", np.uint64, np.bitwise_or), ("xor.b32", np.uint32, np.bitwise_xor),
]  # fmt: skip
REDUCING = "cp.reduce.async.bulk.global.shared::cta.bulk_group."


@pytest.mark.parametrize(("operation", "dtype", "function"), REDUCTIONS)
def test_reductions(operation: str, dtype: type, function: np.ufunc) -> None:
    rng, count = np.random.default_rng(0), 512 // np.dtype(dtype).itemsize
    signed = np.dtype(dtype).kind != "u"
    x, y = (rng.integers(-9 if signed else 0, 9, count).astype(dtype) for _ in range(2))
    expected = function(y, x).astype(dtype)
    run(REDUCE.replace("OPERATION", REDUCING + operation), x, y).require_ok()
    assert np.array_equal(y, expected)


def test_f32_sums_lose_subnormals_and_f16_sums_do_not() -> None:
    x = np.full(128, 1e-40, np.float32)
    y = x.copy()
    run(REDUCE.replace("OPERATION", f"{REDUCING}add.f32"), x, y).require_ok()
    assert not y.any()
    h = np.full(256, 2.0**-24, np.float16)
    g = h.copy()
    run(REDUCE.replace("OPERATION", f"{REDUCING}add.noftz.f16"), h, g).require_ok()
    assert np.array_equal(g, h + h)


GROUPS = (
    REDUCE.partition(" @%p1 OPERATION")[0]
    + """ @!%p1 bra END;
 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 256;
 cp.async.bulk.commit_group;
 add.u32 %r10, %r3, 256; add.s64 %rd4, %rd2, 256;
 cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r10], 256;
 cp.async.bulk.commit_group;
 cp.async.bulk.wait_group.read 1;
 mov.u32 %r11, 0; st.shared.u32 [%r3+PLACE], %r11;
 cp.async.bulk.wait_group 0;
END:
"""
)


@pytest.mark.parametrize(("place", "kinds"), [(0, set()), (256, {"async"})])
def test_groups_are_waited_for_in_their_order(place: int, kinds: set[str]) -> None:
    x, y = np.arange(128, dtype=np.uint32), np.zeros(128, np.uint32)
    report = run(GROUPS.replace("PLACE", str(place)), x, y)
    assert {f.kind for f in report.findings} == kinds
    if not kinds:
        assert np.array_equal(y, x)


@pytest.mark.parametrize(("size", "kind"), [(500, "misaligned"), (2048, "out-of-bounds")])
def test_sizes_that_are_not_legal(size: int, kind: str) -> None:
    x, y = np.arange(128, dtype=np.uint32), np.zeros(1024, np.uint32)
    body = REDUCE.replace("OPERATION", "cp.async.bulk.global.shared::cta.bulk_group")
    report = launch(text(body), "k", 1, 32, [x, y, size])
    assert report.findings[0].kind == kind
    (error,) = check(text(body.replace("[%r3], %r2", "[%r3], 24")))
    assert "24 bytes; legal: multiples of 16" in str(error)


POOL = """ setp.ge.u32 %p2, %r1, 128; @%p2 bra SECOND;
 setmaxnreg.dec.sync.aligned.u32 LOW;
 bra END;
SECOND:
 setmaxnreg.inc.sync.aligned.u32 HIGH;
END:
"""


@pytest.mark.parametrize(
    ("threads", "low", "high", "kinds"),
    [
        # 65,536 registers, in eights a thread: 168 of 384 threads, 128 of 512
        (384, 40, 232, set()), (384, 24, 240, set()), (384, 40, 240, {"deadlock"}),
        (512, 32, 160, set()), (512, 32, 168, {"deadlock"}), (384, 176, 176, {"registers"}),
        # no more at the beginning than `.inc` asks for
        (384, 40, 160, set()), (256, 24, 240, set()), (256, 248, 240, {"registers"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [None, 0])
def test_registers_of_warpgroups(
    threads: int, low: int, high: int, kinds: set[str], order: int | None
) -> None:
    body = POOL.replace("LOW", str(low)).replace("HIGH", str(high))
    ptx = text(body, f".reqntid {threads}, 1, 1\n.minnctapersm 1")
    report = launch(ptx, "k", 1, threads, [None, None, 0], order=order)
    assert {f.kind for f in report.findings} & {"deadlock", "registers"} >= kinds
    assert bool(report.findings) == bool(kinds)


def test_a_program_without_a_number_of_threads_keeps_its_registers() -> None:
    body = POOL.replace("LOW", "40").replace("HIGH", "256")
    launch(text(body), "k", 1, 384, [None, None, 0]).require_ok()


def test_texts_assemble(assemblers: list) -> None:
    texts = [text(REDUCE.replace("OPERATION", REDUCING + name)) for name, *_ in REDUCTIONS]
    texts.append(text(GROUPS.replace("PLACE", "0")))
    body = POOL.replace("LOW", "40").replace("HIGH", "232")
    texts.append(text(body, ".reqntid 384, 1, 1\n.minnctapersm 1"))
    for ptxas in assemblers:
        for one in texts:
            assert ptxas.run(one, "sm_90a") == (0, "")


def test_registers_taken_are_more() -> None:
    body = POOL.replace("LOW", "24").replace("HIGH", "232")
    body = body.replace("END:\n", " setmaxnreg.inc.sync.aligned.u32 160;\nEND:\n", 1)
    body = body.replace("bra END;", "ret;")
    ptx = text(body, ".reqntid 384, 1, 1\n.minnctapersm 1")
    (finding,) = launch(ptx, "k", 1, 384, [None, None, 0]).findings
    assert "requests 160 registers per thread and has 232: .inc takes more" in str(finding)


@pytest.mark.parametrize(
    ("threads", "high"), [(256, 240), (256, 120), (384, 240), (384, 160), (512, 160)]
)
def test_registers_at_entry_are_those_that_ptxas_gives(threads: int, high: int) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("ptxas is not on PATH")
    body = POOL.replace("LOW", "24").replace("HIGH", str(high))
    ptx = text(body, f".reqntid {threads}, 1, 1\n.minnctapersm 1")
    said = subprocess.run(
        [ptxas, "-arch=sm_90a", "-v", "-o", os.devnull, "-"],
        input=ptx, capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    (used,) = re.findall(r"Used (\d+) registers", said)
    assert at_entry(read(ptx).functions["k"], "sm_90a") == int(used)
