"""Integer, bit-field, logic and extended-precision instructions equal the same on Python integers.

The models are the PTX ISA's pseudo-code, element by element.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

EDGES = (0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 127, 128, 255, 256)
COUNT = 300


def sample(width, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(f"u{width // 8}")
    top = 2**width
    edges = [(s * e + o) % top for e in EDGES for s in (1, -1) for o in (0, top // 2)]
    uniform = rng.integers(0, top, COUNT, dtype=dtype, endpoint=False)
    return np.where(
        rng.integers(0, 2, COUNT), uniform, rng.choice(np.array(edges, dtype=dtype), COUNT)
    )


def number(value, type_):
    width = int(type_[1:])
    return value - 2**width if type_[0] == "s" and value >> (width - 1) else value


def clamp(value, type_):
    width = int(type_[1:])
    low, high = (0, 2**width) if type_[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1))
    return min(max(value, low), high - 1)


def compare(run, text, widths, model, result_width, seed=0):
    """Checks an instruction against a model of Python integers, taken modulo the result's width."""
    operands = [sample(w, 97 * seed + i) for i, w in enumerate(widths)]
    got = run(text, *operands)
    values = zip(*(x.tolist() for x in operands), strict=True)
    want = [model(*v) % 2**result_width for v in values]
    assert got.dtype == np.dtype(f"u{result_width // 8}")
    wrong = np.flatnonzero(got != np.array(want, dtype=got.dtype))
    assert not wrong.size, (text, [hex(x[wrong[0]]) for x in operands], hex(got[wrong[0]]))


TYPES = ("u16", "s16", "u32", "s32", "u64", "s64")


def quotient(a, b, width):
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize("type_", TYPES)
def test_arithmetic(type_, run):
    w = int(type_[1:])
    n = lambda f: lambda *v: f(*(number(x, type_) for x in v))  # noqa: E731
    two, three = (w, w), (w, w, w)
    compare(run, f"add.{type_}", two, n(lambda a, b: a + b), w)
    compare(run, f"sub.{type_}", two, n(lambda a, b: a - b), w)
    compare(run, f"mul.lo.{type_}", two, n(lambda a, b: a * b), w)
    compare(run, f"mul.hi.{type_}", two, n(lambda a, b: (a * b) >> w), w)
    compare(run, f"mad.lo.{type_}", three, n(lambda a, b, c: a * b + c), w)
    compare(run, f"mad.hi.{type_}", three, n(lambda a, b, c: ((a * b) >> w) + c), w)
    compare(run, f"sad.{type_}", three, n(lambda a, b, c: abs(a - b) + c), w)
    compare(run, f"min.{type_}", two, n(min), w)
    compare(run, f"max.{type_}", two, n(max), w)
    compare(run, f"div.{type_}", two, n(lambda a, b: quotient(a, b, w)), w)
    compare(run, f"rem.{type_}", two, n(lambda a, b: a - b * quotient(a, b, w) if b else -1), w)
    if w < 64:
        wide = n(lambda a, b: a * b)
        compare(run, f"mul.wide.{type_}", two, wide, 2 * w)
        compare(run, f"mad.wide.{type_}", (w, w, 2 * w), lambda a, b, c: wide(a, b) + c, 2 * w)
    if type_[0] == "s":
        compare(run, f"abs.{type_}", (w,), n(abs), w)
        compare(run, f"neg.{type_}", (w,), n(lambda a: -a), w)


def test_saturation(run):
    s = lambda x: number(x, "s32")  # noqa: E731
    words = (32, 32)
    compare(run, "add.sat.s32", words, lambda a, b: clamp(s(a) + s(b), "s32"), 32)
    compare(run, "sub.sat.s32", words, lambda a, b: clamp(s(a) - s(b), "s32"), 32)
    compare(run, "add.sat.u32", words, lambda a, b: clamp(a + b, "u32"), 32)
    compare(run, "min.relu.s32", words, lambda a, b: max(min(s(a), s(b)), 0), 32)
    compare(
        run,
        "mad.hi.sat.s32",
        (32, 32, 32),
        lambda a, b, c: clamp((s(a) * s(b) >> 32) + s(c), "s32"),
        32,
    )


@pytest.mark.parametrize("type_", ["u32", "s32"])
def test_24_bits(type_, run):
    n = lambda x: number(x & 0xFFFFFF, f"{type_[0]}24")  # noqa: E731
    words = (32, 32, 32)
    compare(run, f"mul24.lo.{type_}", words[:2], lambda a, b: n(a) * n(b), 32)
    compare(run, f"mul24.hi.{type_}", words[:2], lambda a, b: n(a) * n(b) >> 16, 32)
    compare(run, f"mad24.lo.{type_}", words, lambda a, b, c: n(a) * n(b) + c, 32)
    compare(run, f"mad24.hi.{type_}", words, lambda a, b, c: (n(a) * n(b) >> 16) + c, 32)


PACKED = {
    "add": lambda a, b, t: a + b,
    "sub": lambda a, b, t: a - b,
    "add.sat": lambda a, b, t: clamp(a + b, t),
    "sub.sat": lambda a, b, t: clamp(a - b, t),
    "min": lambda a, b, t: min(a, b),
    "max": lambda a, b, t: max(a, b),
    "max.relu": lambda a, b, t: max(a, b, 0),
}


@pytest.mark.parametrize("type_", ["u16x2", "s16x2", "u8x4", "s8x4"])
def test_packed(type_, run):
    element, _, lanes = type_.partition("x")
    w = int(element[1:])

    def model(function):
        def each(a, b):
            parts = 0
            for i in range(int(lanes)):
                x, y = ((v >> (w * i)) % 2**w for v in (a, b))
                value = function(number(x, element), number(y, element), element)
                parts |= value % 2**w << (w * i)
            return parts

        return each

    for name, function in PACKED.items():
        if (name.startswith("sub") and w == 16) or ("relu" in name and type_[0] == "u"):
            continue
        compare(run, f"{name}.{type_}", (32, 32), model(function), 32)


def test_dot_products(run):
    for x, y in itertools.product(("u", "s"), repeat=2):

        def part(word, index, width, sign):
            return number((word >> (width * index)) % 2**width, f"{sign}{width}")

        def dp4a(a, b, c, x=x, y=y):
            return c + sum(part(a, i, 8, x) * part(b, i, 8, y) for i in range(4))

        compare(run, f"dp4a.{x}32.{y}32", (32, 32, 32), dp4a, 32)
        for first, half in ((0, "lo"), (2, "hi")):

            def dp2a(a, b, c, x=x, y=y, first=first):
                return c + sum(part(a, i, 16, x) * part(b, first + i, 8, y) for i in range(2))

            compare(run, f"dp2a.{half}.{x}32.{y}32", (32, 32, 32), dp2a, 32)


@pytest.mark.parametrize("width", [32, 64])
def test_carries_chain_to_wider_integers(width, run):
    t, top = f"u{width}", 2**width
    a, b, c, d = (sample(width, s) for s in range(4))
    low, carry = run(f"add.cc.{t}", a, b)
    high = run(f"addc.{t}", c, d, carry)
    also, out = run(f"addc.cc.{t}", c, d, carry)
    np.testing.assert_array_equal(high, also)
    for i, (w, x, y, z) in enumerate(zip(*(v.tolist() for v in (a, b, c, d)), strict=True)):
        total = (y * top + w) + (z * top + x)
        assert int(low[i]) + int(high[i]) * top + int(out[i]) * top**2 == total
    low, borrow = run(f"sub.cc.{t}", a, b)
    high, out = run(f"subc.cc.{t}", c, d, borrow)
    np.testing.assert_array_equal(run(f"subc.{t}", c, d, borrow), high)
    for i, (w, x, y, z) in enumerate(zip(*(v.tolist() for v in (a, b, c, d)), strict=True)):
        total = (y * top + w) - (z * top + x)
        assert int(low[i]) + int(high[i]) * top - int(out[i]) * top**2 == total
    low, carry = run(f"mad.lo.cc.{t}", a, b, c)
    high = run(f"madc.hi.{t}", a, b, d, carry)
    for i, (w, x, y, z) in enumerate(zip(*(v.tolist() for v in (a, b, c, d)), strict=True)):
        assert int(low[i]) + int(high[i]) * top == (w * x + y + z * top) % top**2
    high, out = run(f"madc.hi.cc.{t}", a, b, d, carry)
    for i, (w, x, y, z) in enumerate(zip(*(v.tolist() for v in (a, b, d, carry)), strict=True)):
        assert int(high[i]) + int(out[i]) * top == (w * x >> width) + y + z


@pytest.mark.parametrize("width", [32, 64])
def test_bit_counting(width, run):
    b = f"b{width}"
    compare(run, f"popc.{b}", (width,), lambda a: a.bit_count(), 32)
    compare(run, f"clz.{b}", (width,), lambda a: width - a.bit_length(), 32)
    compare(run, f"brev.{b}", (width,), lambda a: int(f"{a:0{width}b}"[::-1], 2), width)
    for sign in "us":

        def find(a, sign=sign):
            if sign == "s" and a >> (width - 1):
                a ^= 2**width - 1
            return a.bit_length() - 1

        compare(run, f"bfind.{sign}{width}", (width,), find, 32)

        def amount(a, find=find):
            return width - 1 - find(a) if find(a) >= 0 else -1

        compare(run, f"bfind.shiftamt.{sign}{width}", (width,), amount, 32)


@pytest.mark.parametrize("type_", ["u32", "s32", "u64", "s64"])
def test_bit_fields(type_, run):
    w = int(type_[1:])

    def extract(a, position, length):
        position, length = position & 255, length & 255
        signed = type_[0] == "s" and length
        sign = (a >> min(position + length - 1, w - 1)) & 1 if signed else 0
        bits = [
            (a >> (position + i)) & 1 if i < length and position + i < w else sign for i in range(w)
        ]
        return sum(bit << i for i, bit in enumerate(bits))

    def insert(a, b, position, length):
        position, length = position & 255, length & 255
        for i in range(length):
            if position + i < w:
                b = b & ~(1 << (position + i)) | ((a >> i) & 1) << (position + i)
        return b

    compare(run, f"bfe.{type_}", (w, 32, 32), extract, w)
    compare(run, f"bfi.b{w}", (w, w, 32, 32), insert, w)


def test_masks_and_extensions(run):
    def mask(a, b, wrap):
        if wrap:
            a, b = a & 31, b & 31
        return sum(1 << i for i in range(a, min(a + b, 32)))

    def extend(a, b, wrap, signed):
        b = b & 31 if wrap else b
        if b >= 32:
            return a
        low = a % 2**b
        return low - 2**b if signed and b and low >> (b - 1) else low

    for mode in ("clamp", "wrap"):
        wrap = mode == "wrap"
        compare(run, f"bmsk.{mode}.b32", (32, 32), lambda a, b, w=wrap: mask(a, b, w), 32)
        for t in "us":
            compare(
                run,
                f"szext.{mode}.{t}32",
                (32, 32),
                lambda a, b, w=wrap, t=t: extend(a, b, w, t == "s"),
                32,
            )


def test_nth_set_bit(run):
    def model(mask, base, offset):
        offset = number(offset, "s32")
        if offset == 0:
            return base if mask >> base & 1 else -1
        position, count, step = base, abs(offset) - 1, 1 if offset > 0 else -1
        while 0 <= position < 32:
            if mask >> position & 1:
                if count == 0:
                    return position
                count -= 1
            position += step
        return -1

    rng = np.random.default_rng(5)
    mask, base = sample(32, 1), rng.integers(0, 32, COUNT).astype("u4")
    offset = rng.integers(-9, 10, COUNT).astype("i4").view("u4")
    got = run("fns.b32", mask, base, offset)
    want = [
        model(*v) % 2**32 for v in zip(mask.tolist(), base.tolist(), offset.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_shifts_clamp(width, run):
    compare(run, f"shl.b{width}", (width, 32), lambda a, n: a << min(n, width), width)
    compare(run, f"shr.u{width}", (width, 32), lambda a, n: a >> min(n, width), width)
    compare(run, f"shr.b{width}", (width, 32), lambda a, n: a >> min(n, width), width)
    signed = lambda a, n: number(a, f"s{width}") >> min(n, width)  # noqa: E731
    compare(run, f"shr.s{width}", (width, 32), signed, width)
    compare(run, f"cnot.b{width}", (width,), lambda a: int(a == 0), width)
    compare(run, f"not.b{width}", (width,), lambda a: ~a, width)


def test_funnel_shifts(run):
    for mode, amount in (("clamp", lambda c: min(c, 32)), ("wrap", lambda c: c & 31)):

        def left(a, b, c, amount=amount):
            return ((b << 32 | a) << amount(c)) >> 32

        def right(a, b, c, amount=amount):
            return (b << 32 | a) >> amount(c)

        compare(run, f"shf.l.{mode}.b32", (32, 32, 32), left, 32)
        compare(run, f"shf.r.{mode}.b32", (32, 32, 32), right, 32)


def test_every_truth_table(run):
    a, b, c = (np.array([v], "u4") for v in (0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA))
    for table in range(256):
        assert run("lop3.b32", a, b, c, np.uint32(table))[0] == table * 0x01010101
    p = np.array([False])
    d, q = run("lop3.or.b32", a, b, c, np.uint32(0), p)
    assert (d[0], q[0]) == (0, False)
    d, q = run("lop3.and.b32", a, b, c, np.uint32(1), ~p)
    assert (d[0], q[0]) == (0x01010101, True)


def test_byte_permutation(run):
    def select(a, b, c):
        source = (b << 32 | a).to_bytes(8, "little")
        result = []
        for i in range(4):
            nibble = c >> (4 * i) & 15
            byte = source[nibble & 7]
            result.append(0xFF * (byte >> 7) if nibble & 8 else byte)
        return int.from_bytes(bytes(result), "little")

    compare(run, "prmt.b32", (32, 32, 32), select, 32)
    a, b = sample(32, 1), sample(32, 2)
    rng = np.random.default_rng(0)
    for selector in [0x5410, 0x7632, 0x3210, 0x0000, 0x0123, 0x8888, *rng.integers(0, 2**16, 60)]:
        got = run("prmt.b32", a, b, np.uint32(selector))
        want = [select(x, y, int(selector)) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        np.testing.assert_array_equal(got, want)


# PTX ISA, prmt: source bytes b3 b2 b1 b0 of each mode, for c = 0, 1, 2, 3
MODES = {
    "f4e": "3210 4321 5432 6543",
    "b4e": "5670 6701 7012 0123",
    "rc8": "0000 1111 2222 3333",
    "ecl": "3210 3211 3222 3333",
    "ecr": "0000 1110 2210 3210",
    "rc16": "1010 3232 1010 3232",
}


@pytest.mark.parametrize("mode", MODES)
def test_byte_permutation_modes(mode, run):
    a, b = np.array([0x33221100], "u4"), np.array([0x77665544], "u4")
    for c, digits in enumerate(MODES[mode].split()):
        want = int("".join(2 * d for d in digits), 16)
        assert run(f"prmt.b32.{mode}", a, b, np.array([c], "u4"))[0] == want
        assert run(f"prmt.b32.{mode}", a, b, np.uint32(c + 4))[0] == want
