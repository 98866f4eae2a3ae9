"""The proofs that mutants are equivalent: what they prove, and what they must not."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutation.equivalence import (
    complete_copies,
    dead_constant,
    held_constant,
    same_sass,
    unused_constant,
)  # fmt: skip
from mutation.equivalence.text import instructions
from mutation.kernels import Kernel, Launch
from mutation.operators import Mutant
from tilec.backend.cubin import tools

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 n, .param .u64 x) .maxntid 128, 1, 1 {
  .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
"""
ASSEMBLED = pytest.mark.skipif(
    not (tools("ptxas") and tools("nvdisasm")), reason="ptxas or nvdisasm is not installed"
)


def kernel(path: str = "", assumed: tuple[tuple[str, str], ...] = ()) -> Kernel:
    launch = Launch((1,), (((64,), "uint32"), ((64,), "uint32")))
    return Kernel(path, "sm_80", "kernel", lambda v: v[0], (launch,), (launch,), assumed)


def without(ptx: str, line: str, operator: str = "no constant") -> Mutant:
    """Leave out the last of the lines with a text."""
    lines = ptx.splitlines()
    at = max(n for n, one in enumerate(lines) if one.strip() == line)
    return Mutant("", operator, at + 1, "\n".join([*lines[:at], "", *lines[at + 1 :]]))


def test_statements_are_read() -> None:
    found = instructions(
        "{\n\t.loc 1 2 3\n$L_1: // here\n\t@!%p1 bra $L_1;\n"
        "\tmma.sync.x\n\t\t{%r1, %r2},\n\t\t%r3;\n"
        "{ .reg .b32 %t; mov.b32 %t, 0f3F800000; } ret;\n}"
    )
    assert [(one.line, one.guard, one.opcode) for one in found] == [
        (4, "!%p1", "bra"), (5, "", "mma.sync.x"), (8, "", "mov.b32"), (8, "", "ret"),
    ]  # fmt: skip
    assert found[1].operands == ("{%r1, %r2}", "%r3")
    assert found[1].may_write == {"%r1", "%r2"}
    with pytest.raises(ValueError, match="line 1"):
        instructions("?;")


LOOP = """mov.b32 %r1, 0f00000000;
mov.b32 %r2, %r1;
$L_1:
setp.lt.u32 %p1, %r3, 5;
BODY
@%p1 bra $L_1;
mov.b32 %r2, 0;
st.global.b32 [%rd1], %r2;
ret;"""


@pytest.mark.parametrize(
    ("body", "held"),
    [
        ("add.u32 %r3, %r3, 1;", True),
        ("mov.b32 %r2, %r1;", True),
        ("add.u32 %r2, %r2, 1;", False),
        ("@%p1 mov.b32 %r2, 1;", False),
        ("mma.sync.x\n\t{%r1, %r2},\n%r3;", False),
        ("@%p1 bra $L_2;\nmov.b32 %r2, 1;\n$L_2:", False),
        ("bra $L_2;\nmov.b32 %r2, 1;\n$L_2:", True),
    ],
)
def test_held_constant(body: str, held: bool) -> None:
    ptx = LOOP.replace("BODY", body)
    assert held_constant.proves(kernel(), ptx, without(ptx, "mov.b32 %r2, 0;")) is held
    assert not held_constant.proves(kernel(), ptx, without(ptx, "mov.b32 %r1, 0f00000000;"))


GUARDED = f"""{HEAD}
ld.param.b64 %rd1, [n];
mov.u32 %r5, %tid.x;
cvt.u64.u32 %rd2, %r5;
sub.s64 %rd3, %rd1, %rd2;
setp.gt.s64 %p1, %rd3, 0;
mov.b32 %r1, 0;
@%p1 ld.global.b32 %r1, [%rd4];
min.u64 %rd5, %rd1, 1024;
cvt.u32.u64 %r6, %rd5;
setp.lt.u32 %p2, %r5, %r6;
selp.f32 %r2, %r1, 0fFF800000, %p2;
ret;
}}"""


@pytest.mark.parametrize(
    ("old", "new", "proved"),
    [
        ("", "", True),
        ("setp.lt.u32 %p2", "setp.le.u32 %p2", False),
        ("setp.gt.s64 %p1, %rd3, 0", "setp.gt.s64 %p1, %rd3, 1", False),
        ("%r1, 0fFF800000, %p2", "0fFF800000, %r1, %p2", False),
        ("min.u64", "rem.u64", False),
        ("selp.f32 %r2, %r1", "add.f32 %r3, %r1, %r1;\nselp.f32 %r2, %r1", False),
    ],
)
def test_unused_constant(old: str, new: str, proved: bool) -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    ptx = GUARDED.replace(old, new)
    assert unused_constant.proves(kernel(), ptx, without(ptx, "mov.b32 %r1, 0;")) is proved


SELECTED = f"""{HEAD}
ld.param.b64 %rd1, [n];
ld.param.b64 %rd2, [x];
setp.lt.s64 %p1, %rd1, 1;
mov.b32 %r1, 0;
mov.u32 %r2, %tid.x;
@%p1 bra $L_1;
add.u32 %r1, %r2, 7;
$L_1:
st.global.b32 [%rd2], %r1;
ret;
}}"""
KNOWN = (("setp.lt.s64 %p1, %rd1, 1;", "mov.pred %p1, 0;"),)


@ASSEMBLED
def test_dead_constant() -> None:
    mutant = without(SELECTED, "mov.b32 %r1, 0;")
    assert not dead_constant.proves(kernel(), SELECTED, mutant)
    assert dead_constant.proves(kernel(assumed=KNOWN), SELECTED, mutant)


@ASSEMBLED
def test_same_sass() -> None:
    ptx = SELECTED.replace("@%p1 bra", "mov.b32 %r3, 5;\n@%p1 bra")
    assert same_sass.proves(kernel(), ptx, without(ptx, "mov.b32 %r3, 5;"))
    assert not same_sass.proves(kernel(), ptx, without(ptx, "add.u32 %r1, %r2, 7;"))
    assert not same_sass.proves(kernel(), "no PTX", Mutant("", "", 1, "nor this"))


COPIES = f"""{HEAD}
.shared .align 16 .b8 buffer[32];
ld.param.b64 %rd1, [n];
mov.u32 %r1, buffer;
cp.async.ca.shared.global [%r1], [%rd1], 4;
cp.async.commit_group;
cp.async.wait_group 0;
SECOND
cp.async.wait_group   0;
ret;
}}"""


@pytest.mark.parametrize(
    ("second", "proved"),
    [
        ("", True),
        ("cp.async.commit_group;", True),
        ("cp.async.ca.shared.global [%r1+4], [%rd1], 4;\ncp.async.commit_group;", False),
    ],
)
def test_complete_copies(tmp_path: Path, second: str, proved: bool) -> None:
    path = tmp_path / "copies.ptx"
    path.write_text(ptx := COPIES.replace("SECOND", second))
    of = kernel(str(path))
    weaker = "no wait for a copy"
    assert (
        complete_copies.proves(of, ptx, without(ptx, "cp.async.wait_group   0;", weaker)) is proved
    )
    assert not complete_copies.proves(of, ptx, without(ptx, "cp.async.wait_group 0;", weaker))
