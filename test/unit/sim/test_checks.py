"""Each check has a kernel that trips it and a near one that does not.

A pair differs in one place; the first must give exactly the finding named, at the line marked
`// here`, the second none.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, SimulationError, launch

HEAD = """.version 8.5
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.extern .shared .align 16 .b8 smem[];
.const .align 4 .u32 fixed[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, smem; add.u32 %r4, %r3, %r2;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  shr.u32 %r5, %r1, 5; and.b32 %r6, %r1, 31;
"""

END_COPIES = "\n cp.async.wait_all;"
COPY = """
  mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd1, %rd6; mul.lo.u32 %r7, %r1, 16;
  add.u32 %r7, %r7, %r3;
  cp.async.cg.shared.global [%r7], [%rd6], 16;
  cp.async.commit_group;
"""

PAIRS = {
    "out-of-bounds global read": (
        "out-of-bounds",
        "ld.global.u32 %r9, [%rd4+4]; // here",
        "ld.global.u32 %r9, [%rd4];",
    ),
    "out-of-bounds global write": (
        "out-of-bounds",
        "st.global.u32 [%rd4+-4], %r1; // here",
        "st.global.u32 [%rd4+0], %r1;",
    ),
    "null pointer": (
        "out-of-bounds",
        "ld.global.u32 %r9, [%rd2]; // here",
        "setp.ne.u64 %p1, %rd2, 0; @%p1 ld.global.u32 %r9, [%rd2];",
    ),
    "out-of-bounds shared": (
        "out-of-bounds",
        "st.shared.u32 [%r4+3584], %r1; // here",
        "st.shared.u32 [%r4+3072], %r1;",
    ),
    "out-of-bounds in one lane": (
        "out-of-bounds",
        "add.s64 %rd4, %rd4, 4; setp.ne.u32 %p1, %r1, 300; @%p1 ld.global.u32 %r9, [%rd4]; // here",
        "add.s64 %rd4, %rd4, 4; setp.ne.u32 %p1, %r1, 255; @%p1 ld.global.u32 %r9, [%rd4];",
    ),
    "misaligned": (
        "misaligned",
        "ld.global.v2.u32 {%r8, %r9}, [%rd1+4]; // here",
        "ld.global.v2.u32 {%r8, %r9}, [%rd1+8];",
    ),
    "misaligned shared": (
        "misaligned",
        "st.shared.u64 [%r3+4], %rd1; // here",
        "st.shared.u64 [%r3+8], %rd1;",
    ),
    "misaligned matrix": (
        "misaligned",
        """wmma.load.c.sync.aligned.row.m8n32k16.global.f16 // here
  {%r10, %r11, %r12, %r13}, [%rd1], 36;""",
        """wmma.load.c.sync.aligned.row.m8n32k16.global.f16
  {%r10, %r11, %r12, %r13}, [%rd1], 40;""",
    ),
    "shared address used as global": (
        "wrong-space",
        "cvt.u64.u32 %rd7, %r4; add.s64 %rd7, %rd7, 4; st.global.u32 [%rd7], %r1; // here",
        "cvt.u64.u32 %rd7, %r4; st.shared.u32 [%rd7], %r1;",
    ),
    "generic address used as shared": (
        "wrong-space",
        "cvt.u64.u32 %rd7, %r4; cvta.shared.u64 %rd7, %rd7; st.shared.u32 [%rd7], %r1; // here",
        "cvt.u64.u32 %rd7, %r4; cvta.shared.u64 %rd7, %rd7; st.u32 [%rd7], %r1;",
    ),
    "global address used as shared": (
        "wrong-space",
        "st.shared.u32 [%rd4], %r1; // here",
        "st.u32 [%rd4], %r1;",
    ),
    "write to constant memory": (
        "read-only",
        "mov.u64 %rd7, fixed; st.global.u32 [%rd7], %r1; // here",
        "mov.u64 %rd7, fixed; ld.const.u32 %r9, [%rd7];",
    ),
    "uninitialised": (
        "uninitialised",
        """st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r9, [%r4+1024];
  st.global.u32 [%rd4], %r9; // here""",
        """st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r9, [%r4];
  st.global.u32 [%rd4], %r9;""",
    ),
    "uninitialised half of a row": (
        "uninitialised",
        """st.shared.v2.u32 [%r3], {%r3, %r3}; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r3];
  setp.lt.u32 %p1, %r6, 4; @%p1 st.global.u32 [%rd4], %r9; // here""",
        """st.shared.v4.u32 [%r3], {%r3, %r3, %r3, %r3}; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r3];
  setp.lt.u32 %p1, %r6, 4; @%p1 st.global.u32 [%rd4], %r9;""",
    ),
    "race of write and read": (
        "race",
        "xor.b32 %r7, %r4, 64; st.shared.u32 [%r4], %r1;\n ld.shared.u32 %r9, [%r7]; // here",
        "xor.b32 %r7, %r4, 64; st.shared.u32 [%r4], %r1;\n bar.sync 0; ld.shared.u32 %r9, [%r7];",
    ),
    "race of read and write": (
        "race",
        """st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r7, %r4, 512; ld.shared.u32 %r9, [%r7];
  st.shared.u32 [%r4], %r9; // here""",
        """st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r7, %r4, 512; ld.shared.u32 %r9, [%r7];
  bar.sync 0; st.shared.u32 [%r4], %r9;""",
    ),
    "race after everyone reads one word": (
        "race",
        """st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r9, [%r3];
  setp.eq.u32 %p1, %r1, 77; @%p1 st.shared.u32 [%r3], %r9; // here""",
        """st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r9, [%r3]; bar.sync 0;
  setp.eq.u32 %p1, %r1, 77; @%p1 st.shared.u32 [%r3], %r9;""",
    ),
    "race in one instruction": (
        "race",
        "st.shared.u32 [%r3], %r1; // here",
        "st.shared.u32 [%r3], %r3;",
    ),
    "race within a warp": (
        "race",
        "xor.b32 %r7, %r4, 4; st.shared.u32 [%r4], %r1;\n ld.shared.u32 %r9, [%r7]; // here",
        """xor.b32 %r7, %r4, 4; st.shared.u32 [%r4], %r1; bar.warp.sync -1;
  ld.shared.u32 %r9, [%r7];""",
    ),
    "warp barrier between warps": (
        "race",
        """xor.b32 %r7, %r4, 128; st.shared.u32 [%r4], %r1; bar.warp.sync -1;
  ld.shared.u32 %r9, [%r7]; // here""",
        """xor.b32 %r7, %r4, 64; st.shared.u32 [%r4], %r1; bar.warp.sync -1;
  ld.shared.u32 %r9, [%r7];""",
    ),
    "bytes of one word": (
        "race",
        "add.u32 %r7, %r3, %r6; st.shared.u8 [%r7], %r1; // here",
        "add.u32 %r7, %r3, %r1; st.shared.u8 [%r7], %r1;",
    ),
    "atomic and plain": (
        "race",
        """st.shared.u32 [%r3], %r3; bar.sync 0; red.shared.add.u32 [%r3], 1;
  st.shared.u32 [%r3], 5; // here""",
        """st.shared.u32 [%r3], %r3; bar.sync 0; red.shared.add.u32 [%r3], 1;
  red.shared.add.u32 [%r3], 5;""",
    ),
    "copy read before its wait": (
        "async",
        COPY + "ld.shared.u32 %r9, [%r7]; // here" + END_COPIES,
        COPY + "cp.async.wait_group 0; ld.shared.u32 %r9, [%r7];" + END_COPIES,
    ),
    "copy of the last group read": (
        "async",
        COPY + COPY.replace("[%r7], ", "[%r7+4096], ") + "cp.async.wait_group 1;"
        "\n ld.shared.u32 %r9, [%r7+4096]; // here" + END_COPIES,
        COPY + COPY.replace("[%r7], ", "[%r7+4096], ") + "cp.async.wait_group 1;"
        "\n ld.shared.u32 %r9, [%r7];" + END_COPIES,
    ),
    "copy's target overwritten": (
        "async",
        COPY + "st.shared.u32 [%r7], %r1; // here" + END_COPIES,
        COPY + "cp.async.wait_all; st.shared.u32 [%r7], %r1;" + END_COPIES,
    ),
    "copy's source overwritten": (
        "async",
        COPY + "st.global.u32 [%rd6+8], %r1; // here" + END_COPIES,
        COPY + "cp.async.wait_all; st.global.u32 [%rd6+8], %r1;" + END_COPIES,
    ),
    "what a copy of fewer bytes reads overwritten": (
        "async",
        COPY.replace("], 16;", "], 16, 8;") + "st.global.u32 [%rd6+4], %r1; // here" + END_COPIES,
        COPY.replace("], 16;", "], 16, 8;") + "st.global.u32 [%rd6+8], %r1;" + END_COPIES,
    ),
    "what copies of 4 bytes or none read overwritten": (
        "async",
        "and.b32 %r8, %r1, 1; mul.lo.u32 %r8, %r8, 4;"
        + COPY.replace("], 16;", "], 16, %r8;")
        + "\n st.global.u32 [%rd6], %r1; // here"
        + END_COPIES,
        "and.b32 %r8, %r1, 1; mul.lo.u32 %r8, %r8, 4; setp.eq.u32 %p1, %r8, 0;"
        + COPY.replace("], 16;", "], 16, %r8;")
        + "\n @%p1 st.global.u32 [%rd6], %r1;"
        + END_COPIES,
    ),
    "copy of another thread read without a barrier": (
        "race",
        COPY + "cp.async.wait_all; xor.b32 %r7, %r7, 2048;\n ld.shared.u32 %r9, [%r7]; // here",
        COPY + "cp.async.wait_all; bar.sync 0; xor.b32 %r7, %r7, 2048; ld.shared.u32 %r9, [%r7];",
    ),
    "barrier not reached by exited threads": (
        "barrier",
        "setp.lt.u32 %p1, %r1, 32; @%p1 ret;\n bar.sync 0; // here",
        "setp.lt.u32 %p1, %r1, 32; bar.sync 0;\n @%p1 ret;",
    ),
    "barrier of part of a warp": (
        "barrier",
        "setp.ge.u32 %p1, %r1, 64; @%p1 bra END;\n bar.sync 1, 48; // here\n END:",
        "setp.ge.u32 %p1, %r1, 64; @%p1 bra END;\n bar.sync 1, 64; END:",
    ),
    "copy that no thread waits for": (
        "async",
        COPY.replace(
            "cp.async.cg.shared.global [%r7], [%rd6], 16;",
            "cp.async.cg.shared.global [%r7], [%rd6], 16; // here",
        ),
        COPY + "cp.async.wait_group 0;",
    ),
    "copy that some threads wait for": (
        "async",
        COPY.replace(
            "cp.async.cg.shared.global [%r7], [%rd6], 16;",
            "cp.async.cg.shared.global [%r7], [%rd6], 16; // here",
        )
        + "setp.lt.u32 %p1, %r1, 40; @%p1 ret; cp.async.wait_all;",
        COPY + "setp.lt.u32 %p1, %r1, 40; cp.async.wait_all; @%p1 ret;",
    ),
    "shuffle by lanes that it does not name": (
        "partial-warp",
        "shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffff; // here",
        "setp.ge.u32 %p1, %r6, 16; @%p1 ret;\n shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffff;",
    ),
    "vote by lanes that it does not name": (
        "partial-warp",
        "setp.eq.u32 %p1, %r6, 0; vote.sync.any.pred %p2, %p1, 0xff; // here",
        "setp.eq.u32 %p1, %r6, 0; mov.u32 %r9, -1; vote.sync.any.pred %p2, %p1, %r9;",
    ),
    "matrix instruction in half a warp": (
        "partial-warp",
        """setp.ge.u32 %p1, %r6, 16; @%p1 ret;
  movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r1; // here""",
        """setp.ge.u32 %p1, %r5, 2; @%p1 ret;
  movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r1;""",
    ),
}


def run(body: str, **options: object) -> tuple[Report, int]:
    """The report of a kernel and the line that is marked; of one CTA where two would race."""
    text = f"{HEAD}{body}\n  ret;\n}}\n"
    marked = [n for n, line in enumerate(text.splitlines(), 1) if "// here" in line]
    arrays = [np.zeros(1024, np.uint32) if "cp.async" in body else np.zeros(256, np.uint32), None]
    ctas = 1 if "st.global" in body else 2
    report = launch(text, "k", ctas, 256, arrays, dynamic_smem=8192 if "cp." in body else 4096,
                    **options)  # type: ignore[arg-type]  # fmt: skip
    return report, marked[0] if marked else 0


@pytest.mark.parametrize("name", PAIRS)
def test_wrong(name: str) -> None:
    kind, wrong, _ = PAIRS[name]
    report, line = run(wrong)
    assert [(f.kind, f.line) for f in report.findings] == [(kind, line)]
    assert not report.ok
    assert f":{line}: thread (" in report.findings[0].message


@pytest.mark.parametrize("name", PAIRS)
def test_right(name: str) -> None:
    report, _ = run(PAIRS[name][2])
    assert report.ok, "\n".join(map(str, report.findings))


ADVICE = {
    "one value at once to shared memory": (
        "st.shared.u32 [%r3], 7; // here",
        "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r3], 7;",
    ),
    "one value of two lanes to shared memory": (
        "shr.u32 %r7, %r1, 1; shl.b32 %r8, %r7, 2; add.u32 %r8, %r8, %r3;"
        "\n st.shared.u32 [%r8], %r7; // here",
        "st.shared.u32 [%r4], %r7;",
    ),
    "one value at once to global memory": (
        "mov.u32 %r20, %ctaid.x; mul.wide.u32 %rd6, %r20, 4; add.s64 %rd6, %rd6, %rd1;"
        "\n st.global.u32 [%rd6], 7; // here",
        "st.global.u32 [%rd4], 7;",
    ),
    "one value of two instructions to global memory": (
        "xor.b32 %r7, %r1, 64; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd6, %rd6, %rd1;"
        "st.global.u32 [%rd4], 7;\n st.global.u32 [%rd6], 7; // here",
        "xor.b32 %r7, %r1, 64; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd6, %rd6, %rd1;"
        "st.global.u32 [%rd4], 7; bar.sync 0; st.global.u32 [%rd6], 7;",
    ),
    "atomics": (
        "st.shared.u32 [%r3], 7; // here",
        "mov.u32 %r9, 1; atom.shared.exch.b32 %r8, [%r3], %r9; red.global.add.u32 [%rd1], 0;",
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_same_values_are_advice(name: str) -> None:
    wrong, right = ADVICE[name]
    report, line = run(wrong)
    assert report.ok
    assert [(f.kind, f.line) for f in report.advice] == [("same-value", line)]
    assert f"advice: same-value: <ptx>:{line}" in report.to_text()
    report, _ = run(right)
    assert report.advice == []


def test_a_finding_names_thread_address_and_source() -> None:
    report, line = run(".loc 1 42 3\n  ld.global.u32 %r9, [%rd4+64]; // here")
    (finding,) = report.findings
    assert finding.line == line
    assert finding.source == "kernel.cu:42"
    assert finding.thread == "thread (240, 0, 0) of CTA (0, 0, 0)"
    assert finding.count == 2 * 16
    assert "0 bytes past the end of argument 0, which has 1024 bytes" in finding.message
    assert f"{finding.address:#x}" in finding.message


def test_findings_name_the_other_instruction() -> None:
    report, line = run(PAIRS["race of write and read"][1])
    assert f"wrote at line {line - 1}, without" in report.findings[0].message
    report, line = run(PAIRS["race of read and write"][1])
    assert f"read at line {line - 1}, without" in report.findings[0].message
    report, line = run(PAIRS["copy of the last group read"][1])
    assert f"cp.async of line {line - 3}" in report.findings[0].message


def test_illegal_accesses_read_zero_and_write_nothing() -> None:
    body = "st.global.u32 [%rd4+64], %r1; bar.sync 0; ld.global.u32 %r9, [%rd4+512];"
    body += "bar.sync 0; st.global.u32 [%rd4], %r9;"
    report, _ = run(body)
    assert {f.kind for f in report.findings} == {"out-of-bounds"}
    assert report.completed


DEADLOCKS = {
    "barriers of different numbers": (
        "barrier",
        "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0; bra END;\n A: bar.sync 1;\n END:",
        "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 0; bra END;\n A: bar.sync 0;\n END:",
    ),
    "fewer threads than the barrier counts": (
        "barrier",
        "setp.ge.u32 %p1, %r1, 64; @%p1 bra END; bar.sync 1, 96; END:",
        "setp.ge.u32 %p1, %r1, 64; @%p1 bra END; bar.sync 1, 64; END:",
    ),
    "lanes at different matrix instructions": (
        "partial-warp",
        """setp.lt.u32 %p1, %r6, 16; @%p1 bra A;
  movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r1; bra END;
  A: movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r1; END:""",
        """setp.lt.u32 %p1, %r5, 1; @%p1 bra A;
  movmatrix.sync.aligned.m8n8.trans.b16 %r9, %r1; bra END;
  A: movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r1; END:""",
    ),
    "endless loop": (
        "step-limit",
        "L: ld.volatile.global.u32 %r9, [%rd1]; setp.eq.u32 %p1, %r9, 0; @%p1 bra L;",
        "L: ld.volatile.global.u32 %r9, [%rd1]; setp.ne.u32 %p1, %r9, 0; @%p1 bra L;",
    ),
    "trap": (
        "trap",
        "setp.eq.u32 %p1, %r1, 7; @%p1 trap;",
        "setp.eq.u32 %p1, %r1, 999; @%p1 trap;",
    ),
}


@pytest.mark.parametrize("name", DEADLOCKS)
def test_a_run_that_cannot_go_on(name: str) -> None:
    kind, wrong, right = DEADLOCKS[name]
    report, _ = run(wrong, max_steps=20_000)
    assert [f.kind for f in report.findings] == [kind]
    assert report.findings[0].line >= len(HEAD.splitlines())
    assert report.findings[0].thread.startswith("thread (")
    assert not report.completed
    with pytest.raises(SimulationError, match="<ptx>:"):
        run(wrong, max_steps=20_000, checks=False)
    report, _ = run(right, max_steps=20_000)
    assert report.ok


def test_without_checks_an_access_outside_all_memory_still_ends_the_run() -> None:
    with pytest.raises(SimulationError, match="outside every allocation"):
        run("add.s64 %rd4, %rd4, 1073741824; st.global.u32 [%rd4], %r1;", checks=False)


def test_races_are_found_in_later_waves_and_diverged_ctas() -> None:
    body = """
  mov.u32 %r20, %ctaid.x; setp.ne.u32 %p1, %r20, 1; @%p1 bra SYNC;
  xor.b32 %r7, %r4, 256; st.shared.u32 [%r4], %r1; ld.shared.u32 %r9, [%r7]; // here
  bra END;
SYNC:
  xor.b32 %r7, %r4, 256; st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r9, [%r7];
END:
"""
    report, line = run(body)
    assert [(f.kind, f.line) for f in report.findings] == [("race", line)]
    assert report.findings[0].thread.endswith("of CTA (1, 0, 0)")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ld.global.u32 %r9, [%rd2];", "out-of-bounds"),
        ("ld.global.u32 %r9, [%rd1+2];", "misaligned"),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
            "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%rd1+16], 16;",
            "misaligned",
        ),
    ],
)
def test_all_threads_count_that_use_one_address(line: str, kind: str) -> None:
    """Whether a register is known to be the same in all threads makes no difference."""
    for apart in (
        "",
        "mul.wide.u32 %rd7, %r1, 0; add.s64 %rd1, %rd1, %rd7; add.s64 %rd2, %rd2, %rd7;",
    ):
        body = f"{HEAD}{apart}\n{line}\n ret;\n}}\n"
        report = launch(body, "k", 3, 64, [np.zeros(300, np.uint32), None])
        (finding,) = report.findings
        assert (finding.kind, finding.count) == (kind, 3 * 64)
