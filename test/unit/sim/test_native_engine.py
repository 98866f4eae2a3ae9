"""Whole kernels by machine code and by numpy: equal bits, counts and findings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tilec.sim import LaunchError, TensorMap, launch
from tilec.sim.native import choice, fused
from tilec.sim.native.library import Library, library

from ...foreign.case import HERE, Case
from ...foreign.test_foreign import CASES
from .test_random_kernels import HEAD, THREADS, Program

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")


@pytest.fixture(autouse=True, params=[False, True], ids=["apart", "fused"])
def _fused(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms that are called one by one, or stretches as functions from the second time on."""
    monkeypatch.setattr(fused, "ASKED", 1 if request.param else 1 << 40)
    monkeypatch.setattr(fused, "HOT", 1)


BODY = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<19>; .reg .b64 %d<9>; .reg .b16 %h<9>;
ld.param.u64 %d1, [out]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
mov.u32 %r5, 0; mov.u32 %r6, %r4; cvt.rn.f32.u32 %f1, %r4;
{middle}
st.global.u32 [%d3], %r6;
ret;
}}
"""
LOOP = """
again:
{body}
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r9;
@%p1 bra again;
"""


@pytest.mark.parametrize("threads", [32, 100])
@pytest.mark.parametrize("order", [None, 3])
def test_loops(both, threads: int, order: int | None) -> None:
    """Registers that only a stretch uses, uniform ones, and those that change and live on."""
    body = """
    mul.lo.u32 %r7, %r6, 3; add.u32 %r6, %r7, %r5; shl.b32 %r8, %r5, 2; xor.b32 %r6, %r6, %r8;
    fma.rn.f32 %f1, %f1, %f1, 0f3F000000; mov.b32 %r10, %f1; mov.b32 {%h1, %h2}, %r10;
    mov.b32 %r11, {%h2, %h1}; add.u32 %r6, %r6, %r11;
    """
    text = BODY.format(middle=LOOP.format(body=body))
    out = np.zeros(40 * threads, np.uint32)
    _, _, calls = both(text, "k", 40, threads, given=[out, np.uint32(9)], order=order)
    assert calls


def test_guards_and_divergence(both) -> None:
    """Guarded instructions keep what was there; so do the lanes of other paths."""
    body = """
    and.b32 %r7, %r4, 3; setp.eq.u32 %p2, %r7, 1; setp.gt.u32 %p3|%p4, %r7, %r5;
    @%p2 add.u32 %r6, %r6, 17; @!%p2 mul.lo.u32 %r6, %r6, 5; @%p3 xor.b32 %r6, %r6, %r5;
    @%p4 bra past;
    add.u32 %r6, %r6, %r7; mad.lo.u32 %r6, %r6, %r7, 1;
    past:
    """
    text = BODY.format(middle=LOOP.format(body=body))
    out = np.zeros(128, np.uint32)
    _, _, calls = both(text, "k", 2, 64, given=[out, np.uint32(6)])
    assert calls


def test_a_register_that_becomes_varying(both) -> None:
    """The same stretch finds one value for all threads first, then one for each."""
    body = """
    add.u32 %r7, %r6, 3; mul.lo.u32 %r6, %r7, %r7;
    setp.eq.u32 %p2, %r5, 2; @!%p2 bra past;
    add.u32 %r6, %r6, %r4;
    past:
    """
    text = BODY.format(middle="mov.u32 %r6, 1;" + LOOP.format(body=body))
    both(text, "k", 2, 64, given=[np.zeros(128, np.uint32), np.uint32(6)])


def test_registers_of_128_bits(both) -> None:
    """No form has any: numpy executes what moves them."""
    body = """
    cvt.u64.u32 %d4, %r6; add.u64 %d5, %d4, 7; mov.b128 %q1, {%d4, %d5}; mov.b128 %q2, %q1;
    mov.b128 {%d6, %d7}, %q2; cvt.u32.u64 %r7, %d7; add.u32 %r6, %r6, %r7;
    """
    text = BODY.format(middle=".reg .b128 %q<3>;" + LOOP.format(body=body)).replace("8.0", "8.3")
    _, _, calls = both(text, "k", 2, 64, given=[np.zeros(128, np.uint32), np.uint32(6)])
    assert calls


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(both, seed: int) -> None:
    program = Program(seed)
    first = "add.u32 %r20, %r5, 100; mov.u32 %r21, %r5; mul.lo.u32 %r22, %r5, 7; mov.u32 %r23, 3;"
    last = [f"st.global.u32 [%rd4+{4 * 256 * n}], %r{20 + n};" for n in range(4)]
    text = HEAD + "\n".join([first, *program.text, *last]) + "\nret;\n}\n"
    both(text, "k", 2, THREADS, given=[np.zeros((4, 256), np.uint32), None])


def test_findings_are_the_same(both) -> None:
    """What is undefined is followed through stretches: numpy takes over when it is first read."""
    body = """
    add.u32 %r12, %r6, 1; mul.lo.u32 %r6, %r12, 3;
    setp.eq.u32 %p2, %r5, 3; @!%p2 bra past;
    add.u32 %r6, %r15, %r6;
    past:
    add.u32 %r6, %r6, 1; xor.b32 %r6, %r6, 5;
    """
    text = BODY.format(middle=LOOP.format(body=body))
    _, report, calls = both(text, "k", 1, 32, given=[np.zeros(32, np.uint32), np.uint32(5)])
    assert [finding.kind for finding in report.findings] == ["uninitialised"]
    assert calls


def test_an_unsupported_instruction_is_still_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(choice.VARIABLE, "native")
    text = BODY.format(middle="add.u32 %r6, %r6, 1; add.u33 %r6, %r6, 1;")
    with pytest.raises(Exception, match=r"unsupported instruction 'add\.u33'"):
        launch(text, "k", 1, 32, [np.zeros(32, np.uint32), np.uint32(1)])


def test_an_unknown_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(choice.VARIABLE, "gpu")
    with pytest.raises(LaunchError, match="TILEC_SIM_ENGINE is 'gpu'; legal: numpy, native"):
        launch(BODY.format(middle=""), "k", 1, 32, [np.zeros(32, np.uint32), np.uint32(1)])


def test_registers_that_the_driver_does_not_know(both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numpy's arrays are not what they should be, numpy executes the stretch."""
    found = library()
    assert found is not None
    monkeypatch.setattr(found, "types", np.zeros_like(found.types))
    text = BODY.format(middle=LOOP.format(body="add.u32 %r6, %r6, 1; mul.lo.u32 %r6, %r6, %r4;"))
    _, _, calls = both(text, "k", 1, 32, given=[np.zeros(32, np.uint32), np.uint32(4)])
    assert calls


def test_code_is_kept_on_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A second process compiles nothing; what is no object code of ours is compiled again."""
    monkeypatch.setenv("TILEC_CACHE", "1")
    monkeypatch.setenv("TILEC_CACHE_DIR", str(tmp_path / "cache"))
    library.cache_clear()
    assert library() is not None

    def again(*_: object) -> None:
        raise AssertionError("compiled a second time")

    with monkeypatch.context() as patched:
        patched.setattr(Library, "_compile", again)
        library.cache_clear()
        assert library() is not None
        patched.setenv("TILEC_CACHE", "0")
        library.cache_clear()
        with pytest.raises(AssertionError, match="a second time"):
            library()
    library.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernels_of_others(both, case: Case) -> None:
    if any(isinstance(arg, TensorMap | tuple) for arg in case.args):
        pytest.skip("its arrays are inside other arguments, which test_foreign compares")
    if case.sorted_by:
        pytest.skip("the order of its results is free")
    both(
        HERE / case.file, case.kernel, case.grid, case.block, given=list(case.args),
        symbols=dict(case.symbols), dynamic_smem=case.shared,
    )  # fmt: skip
