"""Comparisons and selections equal Python's, NaN and signed zeros and flushing included."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

ORDERED = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
BOOLEAN = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def model(cmp, a, b):
    """PTX ISA, "Comparison Operators": of floats; NaN makes ordered ones false, others true."""
    nan = math.isnan(a) or math.isnan(b)
    if cmp in ("num", "nan"):
        return nan == (cmp == "nan")
    if cmp in ORDERED:
        return not nan and ORDERED[cmp](a, b)
    return nan or ORDERED[cmp.removesuffix("u")](a, b)


FLOAT_COMPARISONS = (*ORDERED, *(c + "u" for c in ORDERED), "num", "nan")


def floats(type_, nearby):
    dtype = FLOATS[type_]
    width = 8 * np.dtype(dtype).itemsize
    a, b = nearby(width, 400, 1), nearby(width, 400, 2)
    b = np.where(np.arange(400) % 5 == 0, a, b)
    with np.errstate(all="ignore"):
        return a, b, a.view(dtype).astype("f8").tolist(), b.view(dtype).astype("f8").tolist()


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("cmp", FLOAT_COMPARISONS)
def test_float_comparisons(cmp, type_, run, nearby):
    a, b, x, y = floats(type_, nearby)
    want = np.array([model(cmp, *v) for v in zip(x, y, strict=True)])
    assert want.any()
    np.testing.assert_array_equal(run(f"setp.{cmp}.{type_}", a, b), want)
    c = np.arange(400) % 3 == 0
    for op, apply in BOOLEAN.items():
        combined = [apply(*v) for v in zip(want.tolist(), c.tolist(), strict=True)]
        np.testing.assert_array_equal(run(f"setp.{cmp}.{op}.{type_}", a, b, c), combined)
    integer = run(f"set.{cmp}.u32.{type_}", a, b)
    np.testing.assert_array_equal(integer, np.where(want, 0xFFFFFFFF, 0))
    if type_ in ("f32", "f64"):
        one = run(f"set.{cmp}.f32.{type_}", a, b)
        np.testing.assert_array_equal(one.view("f4"), want.astype("f4"))
    else:
        one = run(f"set.{cmp}.{type_}.{type_}", a, b)
        np.testing.assert_array_equal(one.view(FLOATS[type_]), want.astype(FLOATS[type_]))


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_pairs_give_two_predicates(type_, run, nearby):
    a, b, c, d = (nearby(16, 300, s) for s in range(4))
    left, right = (x.astype("u4") | (y.astype("u4") << np.uint32(16)) for x, y in ((a, c), (b, d)))
    keep = np.arange(300) % 2 == 0
    for cmp in FLOAT_COMPARISONS:
        low, high = run(f"setp.{cmp}.{type_}", a, b), run(f"setp.{cmp}.{type_}", c, d)
        p, q = run(f"setp.{cmp}.{type_}x2", left, right)
        np.testing.assert_array_equal(p, low)
        np.testing.assert_array_equal(q, high)
        p, q = run(f"setp.{cmp}.xor.{type_}x2", left, right, keep)
        np.testing.assert_array_equal(p, low ^ keep)
        np.testing.assert_array_equal(q, high ^ keep)
        one = 0x3C00 if type_ == "f16" else 0x3F80
        both = run(f"set.{cmp}.{type_}x2.{type_}x2", left, right)
        np.testing.assert_array_equal(both, low * one + (high * one << 16))


@pytest.mark.parametrize("width", [16, 32, 64])
def test_integer_comparisons(width, run, nearby):
    a, b = nearby(width, 400, 1), nearby(width, 400, 2)
    b = np.where(np.arange(400) % 7 == 0, a, b)
    unsigned, signed = (
        (a.tolist(), b.tolist()),
        (a.view(f"i{width // 8}").tolist(), b.view(f"i{width // 8}").tolist()),
    )
    names = {**{c: c for c in ORDERED}, "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
    for kind, (x, y) in (("u", unsigned), ("s", signed), ("b", unsigned)):
        for cmp, meaning in names.items():
            if (kind == "s" and cmp not in ORDERED) or (kind == "b" and cmp not in ("eq", "ne")):
                continue
            want = [ORDERED[meaning](*v) for v in zip(x, y, strict=True)]
            p, q = run(f"setp.{cmp}.{kind}{width}", a, b, results=2)
            np.testing.assert_array_equal(p, want)
            np.testing.assert_array_equal(q, np.logical_not(want))


def test_second_predicate_complements_the_comparison_only(run):
    a, b = np.array([1.0, 2.0], "f4").view("u4"), np.array([2.0, 1.0], "f4").view("u4")
    c = np.array([True, True])
    p, q = run("setp.lt.and.f32", a, b, c, results=2)
    np.testing.assert_array_equal((p, q), ([True, False], [False, True]))
    p, q = run("setp.lt.or.f32", a, b, c, results=2)
    np.testing.assert_array_equal((p, q), ([True, True], [True, True]))


def test_flushed_comparisons(run):
    tiny = np.array([1], "u4")
    zero = np.array([1 << 31], "u4")
    assert run("setp.gt.f32", tiny, zero)[0]
    assert not run("setp.gt.ftz.f32", tiny, zero)[0]
    assert run("setp.eq.ftz.f32", tiny, zero)[0]
    half = np.array([0x03FF], "u2")
    assert run("setp.gt.f16", half, half * 0)[0]
    assert run("setp.eq.ftz.f16", half, half * 0)[0]


def test_selection(run):
    a, b, p = np.array([1, 2], "u4"), np.array([3, 4], "u4"), np.array([True, False])
    np.testing.assert_array_equal(run("selp.b32", a, b, p), [1, 4])
    c = np.array([0, 2**31, 2**32 - 1, 5], "u4")
    one, two = np.uint16(1), np.uint16(2)
    np.testing.assert_array_equal(run("slct.u16.s32", one, two, c), [1, 2, 2, 1])
    floats = np.array([0.0, -0.0, -1e-40, np.nan, 3.0, -3.0], "f4").view("u4")
    np.testing.assert_array_equal(run("slct.u16.f32", one, two, floats), [1, 1, 2, 2, 1, 2])
    np.testing.assert_array_equal(run("slct.ftz.u16.f32", one, two, floats), [1, 1, 1, 2, 1, 2])


@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_classification(type_, run, nearby):
    a, _, values, _ = floats(type_, nearby)
    smallest = float(np.finfo(FLOATS[type_]).smallest_normal)
    tests = {
        "finite": math.isfinite,
        "infinite": math.isinf,
        "number": lambda x: not math.isnan(x),
        "notanumber": math.isnan,
        "normal": lambda x: math.isfinite(x) and (x == 0 or abs(x) >= smallest),
        "subnormal": lambda x: 0 < abs(x) < smallest,
    }
    for name, test in tests.items():
        want = [test(x) for x in values]
        assert any(want)
        np.testing.assert_array_equal(run(f"testp.{name}.{type_}", a), want)


def extremum(values, bits, nan, largest):
    """The operand that is the extremum, as (value, sign) pairs order -0 below +0."""
    numbers = [i for i, v in enumerate(values) if not math.isnan(v)]
    if not numbers or (nan and len(numbers) < len(values)):
        return None
    pick = max if largest else min
    return bits[pick(numbers, key=lambda i: (values[i], math.copysign(1, values[i])))]


@pytest.mark.parametrize(
    ("type_", "nan"), [("f64", ""), *((t, n) for t in ("f16", "bf16", "f32") for n in ("", ".NaN"))]
)
@pytest.mark.parametrize("name", ["min", "max"])
def test_extrema(name, nan, type_, run, nearby):
    a, b, x, y = floats(type_, nearby)
    canonical = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0xFFF8 << 48}[type_]
    pairs = list(zip(x, y, a.tolist(), b.tolist(), strict=True))
    want = [extremum((x, y), (p, q), bool(nan), name == "max") for x, y, p, q in pairs]
    got = run(f"{name}{nan}.{type_}", a, b)
    np.testing.assert_array_equal(got, [canonical if w is None else w for w in want])
    if type_ == "f64":
        return  # it has no .xorsign
    top = 1 << (8 * a.itemsize - 1)
    want = []
    for u, v, p, q in pairs:
        chosen = extremum((abs(u), abs(v)), (p % top, q % top), bool(nan), name == "max")
        want.append(canonical if chosen is None else chosen | ((p ^ q) & top))
    got = run(f"{name}{nan}.xorsign.abs.{type_}", a, b)
    np.testing.assert_array_equal(got, want)


def test_signs(run, nearby):
    for type_, width, nan in (("f32", 32, 0x7FFFFFFF), ("f16", 16, 0x7FFF), ("bf16", 16, 0x7FFF)):
        a = nearby(width, 300, 4)
        with np.errstate(all="ignore"):
            is_nan = np.isnan(a.view(FLOATS[type_]).astype("f8"))
        top = a.dtype.type(1 << (width - 1))
        np.testing.assert_array_equal(run(f"neg.{type_}", a), np.where(is_nan, nan, a ^ top))
        np.testing.assert_array_equal(run(f"abs.{type_}", a), np.where(is_nan, nan, a & ~top))
    a, b = nearby(64, 300, 5), nearby(64, 300, 6)
    top = np.uint64(1 << 63)
    np.testing.assert_array_equal(run("neg.f64", a), a ^ top)
    np.testing.assert_array_equal(run("abs.f64", a), a & ~top)
    np.testing.assert_array_equal(run("copysign.f64", a, b), (a & top) | (b & ~top))
