"""Addresses of shared and local memory have 32 bits, and wrap there, below zero and above.

nvcc and ptxas take a negative number off an address and add it again inside the brackets. Each
kernel reaches its words by such an address, in a register of 32 bits, or of 64 bits with zeros or
the sign above; the sum is the address that it would have had otherwise.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch

HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %h<8>;
  .shared .align 16 .b8 words[1024];
  .local .align 16 .b8 own[64];
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3; mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd2, %rd6;
  mov.u32 %r2, words; shl.b32 %r3, %r1, 2; add.u32 %r3, %r2, %r3;
  mov.u32 %r4, own; add.u32 %r5, %r1, 1000;
"""
SHIFT = 512

KINDS = {
    "ld": ("st.shared.u32 [%r3], %r5; bar.sync 0; BELOW(%r3); ld.shared.u32 %r9, AT;", "tid"),
    "st": ("BELOW(%r3); st.shared.u32 AT, %r5; bar.sync 0; ld.shared.u32 %r9, [%r3];", "tid"),
    "vectors": (
        """shl.b32 %r6, %r1, 4; add.u32 %r6, %r6, %r2; BELOW(%r6);
  st.shared.v4.u32 AT, {%r5, %r1, %r1, %r5}; ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, AT;""",
        "tid",
    ),
    "atom": (
        """st.shared.u32 [%r3], %r5; BELOW(%r3); atom.shared.add.u32 %r9, AT, 1;
  ld.shared.u32 %r10, [%r3]; sub.u32 %r10, %r10, %r9; add.u32 %r9, %r9, %r10;
  sub.u32 %r9, %r9, 1;""",
        "tid",
    ),
    "red": (
        """st.shared.u32 [%r3], %r1; BELOW(%r3); red.shared.add.u32 AT, 1000;
  ld.shared.u32 %r9, [%r3];""",
        "tid",
    ),
    "cp.async": (
        """BELOW(%r3); cp.async.ca.shared.global AT, [%rd5], 4; cp.async.wait_all;
  ld.shared.u32 %r9, [%r3];""",
        "copied",
    ),
    "ldmatrix": (
        """st.shared.u32 [%r3], %r5; bar.sync 0; and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4;
  add.u32 %r6, %r6, %r2; BELOW(%r6); ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, AT;""",
        "tid",
    ),
    "stmatrix": (
        """and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; add.u32 %r6, %r6, %r2; BELOW(%r6);
  stmatrix.sync.aligned.m8n8.x1.shared.b16 AT, {%r5}; bar.sync 0; ld.shared.u32 %r9, [%r3];""",
        "tid",
    ),
    "mbarrier": (
        """shl.b32 %r6, %r1, 3; add.u32 %r6, %r6, %r2; BELOW(%r6);
  mbarrier.init.shared.b64 AT, 7; mbarrier.arrive.shared.b64 %rd9, AT;
  mbarrier.pending_count.b64 %r9, %rd9; add.u32 %r9, %r5, %r9; sub.u32 %r9, %r9, 7;""",
        "tid",
    ),
    "local": ("BELOW(%r4); st.local.u32 AT, %r5; ld.local.u32 %r9, [%r4];", "tid"),
}

REGISTERS = {
    "32 bits": ("sub.u32 %r20, {0}, {1}", "[%r20+{1}]"),
    "64 bits, zeros above": (
        "sub.u32 %r20, {0}, {1}; cvt.u64.u32 %rd10, %r20",
        "[%rd10+{1}]",
    ),
    "64 bits, the sign above": (
        "sub.u32 %r20, {0}, {1}; cvt.s64.s32 %rd10, %r20",
        "[%rd10+{1}]",
    ),
    "64 bits, added before": (
        "sub.u32 %r20, {0}, {1}; cvt.u64.u32 %rd10, %r20; add.u64 %rd10, %rd10, {1}",
        "[%rd10]",
    ),
}


def run(body: str, *, checks: bool = True) -> tuple[Report, np.ndarray]:
    """The report of a warp, and what it left of 1024 and its thread number, or of its input."""
    out = np.zeros(32, np.uint32)
    given = np.arange(128, dtype=np.uint32) * 3 + 5
    text = f"{HEAD}{body}\n  st.global.u32 [%rd4], %r9;\n  ret;\n}}\n"
    return launch(text, "k", 1, 32, [out, given], checks=checks), out


def written(body: str, register: str) -> str:
    """The body with its address taken down by `SHIFT` bytes, and up again where it is used."""
    take, use = REGISTERS[register]
    before, _, rest = body.partition("BELOW(")
    name, _, after = rest.partition(")")
    return before + take.format(name, SHIFT) + after.replace("AT", use.format("", SHIFT))


@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("register", REGISTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_address_below_zero_and_an_offset_that_takes_it_back(
    kind: str, register: str, checks: bool
) -> None:
    body, expected = KINDS[kind]
    report, out = run(written(body, register), checks=checks)
    report.require_ok()
    threads = np.arange(32, dtype=np.uint32)
    wanted = {"tid": threads + 1000, "copied": threads * 3 + 5}[expected]
    assert np.array_equal(out, wanted)


@pytest.mark.parametrize("register", REGISTERS)
def test_an_address_that_stays_below_zero_is_found(register: str) -> None:
    take, use = REGISTERS[register]
    below, at = take.format("%r2", 64), use.format("", 0)
    body = f"{below}; ld.shared.u32 %r9, {at};"
    if register == "64 bits, added before":
        body = body.replace("%rd10, %rd10, 64", "%rd10, %rd10, 0")
    report, _ = run(body)
    assert [f.kind for f in report.findings] == ["out-of-bounds"]
    assert report.findings[0].address == 0xFFFFFFC0


def test_a_sum_above_32_bits_wraps_to_zero() -> None:
    """What is past the last address is the first again, also in words found out of bounds."""
    report, _ = run("mov.u32 %r20, 0xfffffff0; ld.shared.u32 %r9, [%r20+2048];")
    assert [f.kind for f in report.findings] == ["out-of-bounds"]
    assert report.findings[0].address == 2048 - 16


def test_generic_addresses_are_of_64_bits() -> None:
    body = """st.shared.u32 [%r3], %r5; bar.sync 0; cvt.u64.u32 %rd10, %r3;
  cvta.shared.u64 %rd10, %rd10; sub.u64 %rd10, %rd10, 512; ld.u32 %r9, [%rd10+512];"""
    report, out = run(body)
    report.require_ok()
    assert np.array_equal(out, np.arange(32, dtype=np.uint32) + 1000)
    body = """st.shared.u32 [%r3], %r5; bar.sync 0; cvt.u64.u32 %rd10, %r3;
  cvta.shared.u64 %rd10, %rd10; sub.u64 %rd10, %rd10, 512; cvta.to.shared.u64 %rd10, %rd10;
  ld.shared.u32 %r9, [%rd10+512];"""
    report, out = run(body)
    report.require_ok()
    assert np.array_equal(out, np.arange(32, dtype=np.uint32) + 1000)
