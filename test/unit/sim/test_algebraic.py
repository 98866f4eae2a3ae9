"""PTX with floats that are integers modulo 2^w, beside Python's integers."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from tilec import sim
from tilec.isa import algebra

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
.reg .b64 %rd<8>;
.reg .b32 %r<16>;
.reg .b16 %h<8>;
.reg .pred %p<4>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.b32 %r2, [%rd4];
ld.global.b32 %r3, [%rd4+128];
"""
TAIL = "st.global.b32 [%rd5], %r4;\nret;\n}\n"


def run(body: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a warp leaves of two words each, with the words."""
    x = np.random.default_rng(seed).integers(0, 2**32, 64, np.uint32)
    y = np.zeros(32, np.uint32)
    report = sim.launch(HEAD + body + TAIL, "k", 1, 32, [x, y], numerics="algebraic")
    assert not report.findings
    return x[:32], x[32:], y


def halves(words: np.ndarray) -> np.ndarray:
    return words.view(np.int16).reshape(-1, 2).astype(np.int64)


def words(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return ((low & 0xFFFF) | (high & 0xFFFF) << 16).astype(np.uint32)


SINGLE = {
    "add.rn.f32 %r4, %r2, %r3;": lambda a, b: a + b,
    "sub.rn.ftz.f32 %r4, %r2, %r3;": lambda a, b: a - b,
    "mul.rz.f32 %r4, %r2, %r3;": lambda a, b: a * b,
    "fma.rn.f32 %r4, %r2, %r3, %r2;": lambda a, b: a * b + a,
    "neg.f32 %r4, %r2;": lambda a, b: -a,
    "max.NaN.f32 %r4, %r2, %r3;": np.maximum,
    "min.f32 %r4, %r2, %r3;": np.minimum,
    "mul.f32 %r4, %r2, 0fC0400000;": lambda a, b: -3 * a,
    "mov.b32 %r5, 0f40A00000;\nadd.f32 %r4, %r2, %r5;": lambda a, b: a + 5,
    "setp.ltu.f32 %p1, %r2, %r3;\nselp.f32 %r4, %r2, %r3, %p1;": np.minimum,
    "cvt.rn.f32.s32 %r4, %r2;": lambda a, b: a,
    "cvt.rni.f32.f32 %r4, %r2;": lambda a, b: a,
}


@pytest.mark.parametrize("body", SINGLE)
def test_single_precision(body: str) -> None:
    a, b, y = run(f"{body}\n")
    wanted = SINGLE[body](*(one.view(np.int32).astype(np.int64) for one in (a, b)))
    np.testing.assert_array_equal(y, (wanted & 0xFFFFFFFF).astype(np.uint32))


def test_pairs_of_halves() -> None:
    a, b, y = run("fma.rn.f16x2 %r4, %r2, %r3, %r3;\n")
    wanted = halves(a) * halves(b) + halves(b)
    np.testing.assert_array_equal(y, words(wanted[:, 0], wanted[:, 1]))


@pytest.mark.parametrize(("code", "type_", "value"), [(0x4200, "f16", 3), (0xC080, "bf16", -4)])
def test_constants_that_are_written_as_integers(code: int, type_: str, value: int) -> None:
    """A pair of constants, which only the instruction that takes it tells from an integer."""
    body = f"mov.b32 %r5, {code << 16 | code};\nmul.rn.{type_}x2 %r4, %r2, %r5;\n"
    a, _, y = run(body)
    wanted = halves(a) * value
    np.testing.assert_array_equal(y, words(wanted[:, 0], wanted[:, 1]))


def test_narrowing_keeps_the_lower_bits() -> None:
    """And the first operand comes to lie higher."""
    a, b, y = run("cvt.rn.f16x2.f32 %r4, %r2, %r3;\n")
    np.testing.assert_array_equal(y, words(b.astype(np.int64), a.astype(np.int64)))


def test_every_order_of_atomic_sums_agrees() -> None:
    body = (
        "red.global.add.f32 [%rd2], %r2;\nmov.b32 %r4, %r2;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 ret;\n"
    )
    a, _, y = run(body)
    assert int(y[0]) == int(a.astype(np.int64).sum()) & 0xFFFFFFFF


REDUCED = {
    "max": np.maximum,
    "min.NaN": np.minimum,
    "max.abs": lambda a, b: np.maximum(abs(a), abs(b)),
}


@pytest.mark.parametrize("operation", REDUCED)
def test_reductions_of_a_warp(operation: str) -> None:
    a, _, y = run(f"redux.sync.{operation}.f32 %r4, %r2, -1;\n")
    wanted = functools.reduce(REDUCED[operation], a.view(np.int32).astype(np.int64))
    np.testing.assert_array_equal(y, np.full(32, wanted & 0xFFFFFFFF, np.uint32))


def test_quotients_are_products_with_a_reciprocal() -> None:
    """So that a division by a power of two may be a multiplication, and sums be divided at last."""
    a, _, y = run("div.rn.f32 %r4, %r2, 0f41000000;\n")
    _, _, z = run("mul.rn.f32 %r4, %r2, 0f3E000000;\n")
    np.testing.assert_array_equal(y, z)
    x = a.view(np.int32).astype(np.int64)
    eight = np.asarray(8)
    parts = [algebra.apply("div", (one, eight), 32) for one in (x[:16], x[16:])]
    whole = algebra.apply("div", (x[:16] + x[16:], eight), 32)
    np.testing.assert_array_equal(algebra.modulo(parts[0] + parts[1], 32), whole)


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(sim.PtxError, match=r"'testp.finite.f32' has no meaning in algebraic"):
        run("testp.finite.f32 %p1, %r2;\nselp.b32 %r4, 1, 0, %p1;\n")


def test_numerics_have_names() -> None:
    with pytest.raises(sim.LaunchError, match="legal: exact, fast, algebraic"):
        sim.launch(HEAD + TAIL, "k", 1, 32, [], numerics="modular")


def test_products_with_scale_factors_are_refused_where_they_stand() -> None:
    product = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
    words = "{%r2, %r2, %r2, %r2}"
    scale = "%r2, {0, 0}"
    text = HEAD.replace("sm_90", "sm_120a").replace(".version 8.0", ".version 8.8") + (
        f"{product}.f32.e4m3.e4m3.f32.ue8m0 {{%r4, %r5, %r6, %r7}}, {words}, {{%r2, %r2}}, "
        f"{words}, {scale}, {scale};\n"
    )
    at = text.count("\n")
    arrays = [np.zeros(64, np.uint32), np.zeros(32, np.uint32)]
    with pytest.raises(sim.SimulationError, match=rf":{at}: mma.*scale factors, which algebraic"):
        sim.launch(text + TAIL, "k", 1, 32, arrays, numerics="algebraic")
