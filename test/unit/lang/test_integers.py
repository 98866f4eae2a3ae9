"""Integers give what numpy's do, at their limits and beside `int`, or are refused."""

import re
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.runtime import pack

Bytes = tl.Array[tl.int8, int]
OPERATIONS = ("//", "%", "<<", ">>")


def table(dtype: type[tl.DType]) -> Any:
    """A kernel of all operations on every pair of integers of 8 bits."""

    @tilec.kernel(warps=4)
    def kernel(
        x: tl.Array[dtype, int],  # type: ignore[valid-type]
        out: tl.Array[dtype, int, int, int],  # type: ignore[valid-type]
    ) -> None:
        a, number = tl.load(x, 0, 256), tl.program_id(0)
        b = tl.load(x, number, 1)
        found = (a // b, a % b, a << b, a >> b, b // a, b % a, b << a, b >> a)
        found += (divmod(a, b)[0], divmod(a, b)[1], abs(a) + b, -a, ~a)
        for at, tile in enumerate(found):
            tl.store(out, (at, number, 0), tile)

    return kernel


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_every_pair_of_bytes(dtype: Any) -> None:
    x = np.arange(256).astype(dtype)
    out = np.zeros((13, 256, 256), dtype)
    table(getattr(tl, np.dtype(dtype).name))[256](x, out)
    a, b = x[None, :], x[:, None]
    with np.errstate(all="ignore"):
        expected = [a // b, a % b, a << b, a >> b, b // a, b % a, b << a, b >> a]
        expected += [a // b, a % b, abs(a) + b, -a + 0 * b, ~a + 0 * b]
    for at, (found, wanted) in enumerate(zip(out, expected, strict=True)):
        np.testing.assert_array_equal(found, wanted, f"number {at}")


LIMITS = [0, 1, -1, 2, -2, 7, 31, 32, 63, 64, 65, 2**31, 2**32, 2**32 + 1, 2**63 - 1, -(2**63)]


@tilec.kernel(warps=1)
def scalars(out: tl.Array[tl.int64, int], n: int, m: int, positive: tl.Size) -> None:
    quotient, rest = divmod(n, m)
    found = (quotient, rest, n << m, n >> m, ~n, abs(n), -n, n or m, n and m, max(n, m))
    found += (positive // m, positive % m, positive >> m, n // positive, n % positive)
    found += (m and n // m, n // m if m else 5, (10 // m > 2) if m > 0 and n < m else False)
    for at, value in enumerate(found):
        tl.store(out, at, tl.full(1, value).astype(tl.int64))


def test_int_is_an_int64() -> None:
    with np.errstate(all="ignore"):
        for n in LIMITS:
            for m in LIMITS:
                out, size = np.zeros(18, np.int64), abs(n) % 2**62
                scalars[1](out, n, m, size)
                a, b, c = np.array([n]), np.array([m]), np.array([size])
                wanted = [a // b, a % b, a << b, a >> b, ~a, abs(a), -a, [n or m], [n and m]]
                wanted += [np.maximum(a, b), c // b, c % b, c >> b, a // c, a % c]
                wanted += [
                    a // b if m else b,
                    a // b if m else [5],
                    [m > 0 and n < m and 10 // m > 2],
                ]
                assert out.tolist() == np.concatenate(wanted).tolist(), (n, m)


@tilec.kernel(warps=1)
def beside(x: Bytes, y: tl.Array[tl.uint8, int], out: tl.Array[tl.int64, int, int], n: int) -> None:
    a, b = tl.load(x, 0, 256), tl.load(y, 0, 256)
    found = (a + n, n - b, a * n, a // n, n % b, a & n, tl.maximum(a, n), tl.where(a > 0, b, n))
    compared = (a < n, b <= n, n > a, a == n, n != b, b >= n, a > n)
    for at, tile in enumerate((*found, *compared)):
        tl.store(out, (at, 0), tile.astype(tl.int64))


@pytest.mark.parametrize("n", [0, 5, -5, 127, 128, 255, 256, 300, -128, -129, 2**31, -(2**40)])
def test_an_int_beside_a_narrower_tile_is_whole(n: int) -> None:
    x, y = np.arange(256).astype(np.int8), np.arange(256).astype(np.uint8)
    out = np.zeros((15, 256), np.int64)
    beside[1](x, y, out, n)
    assert "tensor<256xi64>" in str(beside.build())
    a, b, c = x.astype(np.int64), y.astype(np.int64), np.int64(n)
    with np.errstate(all="ignore"):
        wanted = [
            a + c,
            c - b,
            a * c,
            a // c,
            c % b,
            a & c,
            np.maximum(a, c),
            np.where(a > 0, b, c),
        ]
        wanted += [a < c, b <= c, c > a, a == c, c != b, b >= c, a > c]
    for at, (found, expected) in enumerate(zip(out, wanted, strict=True)):
        np.testing.assert_array_equal(found, expected, f"number {at}")


@tilec.kernel(warps=1)
def sums(x: Bytes, y: tl.Array[tl.float16, int], out: tl.Array[tl.float64, int]) -> None:
    a, b = tl.load(x, 0, 256), tl.load(y, 0, 256)
    found = (a.sum(), a.view(tl.uint8).sum(), tl.prod(a[:, None].reshape(64, 4), axis=1).max())
    found += (b.sum(), b.sum(dtype=tl.float32), a.sum(dtype=tl.int8), (a > 0).sum())
    for at, value in enumerate(found):
        tl.store(out, at, tl.full(1, value).astype(tl.float64))


def test_sums_have_room() -> None:
    x = np.full(256, 100, np.int8)
    y = np.random.default_rng(0).uniform(0, 9, 256).astype(np.float16)
    out = np.zeros(7)
    sums[1](x, y, out)
    exact = y.astype(np.float64).sum()
    assert out[:3].tolist() == [25600, 25600, 100**4]
    assert out[3] == np.float16(np.float32(exact))
    assert abs(out[4] - exact) < 1e-6 * exact
    assert out[5:].tolist() == [25600 % 256 - 256 * (25600 % 256 > 127), 256]


@tilec.kernel(warps=1)
def unguarded(x: tl.Array[tl.int32, int], n: int, size: tl.Size) -> None:
    a = tl.load(x, 0, 32)
    a = a // 3 + a % 8 + (a << 31) + (a >> (a & 31)) + (a // tl.maximum(a, 1))
    column = tl.program_id(0) % tl.num_programs(0) + size // max(size, 1) + n // 5
    tl.store(x, column, a)


def test_what_cannot_be_zero_is_not_guarded() -> None:
    text = str(unguarded.build())
    assert len(re.findall("arith.div|arith.rem", text)) == 9
    for guard in ("arith.maxui", "arith.minui"):
        assert text.count(guard) == (guard == "arith.maxui"), text
    # Those that are there choose between a quotient and the one below.
    assert text.count("arith.select") == 4
    assert not re.search(r"arith.cmpi eq", text)


HALVES, TRUTHS = "tl.Array[tl.int4, int, int]", "tl.Array[tl.bool_, int]"
OF_TWO_TYPES = "of two types: compare first, as in n != 0, or cast one"
REFUSED = [
    ("v = tl.load(x, 0, 16).max()\nif flag:\n    v = n\ntl.store(x, 0, v)", "not intp: cast"),
    ("v = tl.int8(3)\nfor i in range(n):\n    v = v + i", "'v' changes its type .* from int8 to"),
    ("tl.store(x, 0, tl.full(1, n and flag))", OF_TWO_TYPES),
    ("tl.store(x, 0, tl.full(1, flag or 2))", OF_TWO_TYPES),
    ("tl.store(x, 0, tl.full(1, n or None))", OF_TWO_TYPES),
    ("tl.store(x, 0, tl.load(x, 0, 16) < 300)", "300 does not fit int8"),
    ("tl.store(x, 0, tl.load(x, 0, 16) + n)", "takes elements of its own type, not int64"),
    ("tl.store(x, 0, tl.load(x, 0, 16, fill=n))", "fill is intp.*cast it"),
    ("v = tl.arange(256, dtype=tl.int8)", "the numbers up to 255 do not fit int8"),
    ("v = tl.arange(16, dtype=tl.uint64) + n", "uint64.* and intp: cast"),
    ("tl.store(t, 0, tl.arange(16, dtype=tl.int8))", "takes elements of its own type, not int8"),
    ("tl.store(w, (0, 1), tl.load(w, (0, 0), (1, 8)))", "last index is not known to be even"),
    ("tl.store(w, (0, n), tl.load(w, (0, 0), (1, 8)))", "so that it is, as in 2 . i"),
    ("tl.store(w, (0, 0), tl.load(w, (0, 0), (8, 1)))", "a row of one int4 is half a byte"),
]


@pytest.mark.parametrize(("body", "words"), REFUSED)
def test_what_would_lose_something_is_refused(define: Any, body: str, words: str) -> None:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    parameters = f"x: Bytes, n: int, flag: bool, w: {HALVES}, t: {TRUTHS}"
    parameters = parameters.replace("Bytes", "tl.Array[tl.int8, int]")
    kernel = define(f"@tilec.kernel\ndef kernel({parameters}) -> None:\n{lines}\n")
    with pytest.raises(tilec.TilecError, match=words) as error:
        kernel.compile()
    assert re.match(r".*kernel\.py:\d+:\d+: error: ", str(error.value))


def test_scalars_are_of_types_that_are_passed(define: Any) -> None:
    with pytest.raises(
        tilec.TilecError, match=r":2:12: error: .* a scalar cannot be passed as int4"
    ):
        define("@tilec.kernel\ndef kernel(s: tl.Scalar[tl.int4]) -> None:\n    pass\n")


@tilec.kernel(warps=1)
def halves(w: tl.Array[tl.int4, int, int], out: tl.Array[tl.int32, int, int], n: int) -> None:
    for at in range(8):
        tl.store(out, (at, 0), tl.load(w, (0, at + n), 16).astype(tl.int32))
    tl.store(w, (1, 2 * n), tl.load(w, (0, n), 8))


def test_halves_of_bytes_are_read_from_any_place() -> None:
    values = np.random.default_rng(0).integers(-8, 8, (2, 40))
    for n in (0, 1, -3, 5):
        out, w = np.zeros((8, 16), np.int32), pack(values, "s4")
        halves[1](w, out, n)
        wide = np.zeros((2, 80), int)
        wide[:, 20:60] = values
        wanted = np.stack([wide[0, 20 + at + n :][:16] for at in range(8)])
        np.testing.assert_array_equal(out, wanted)
        wide[1, 20 + 2 * n : 28 + 2 * n] = wide[0, 20 + n : 28 + n]
        np.testing.assert_array_equal(w, pack(wide[:, 20:60], "s4"))


def test_even_places_need_no_second_load() -> None:
    @tilec.kernel
    def kernel(w: tl.Array[tl.int4, int, int], y: tl.Array[tl.int32, int], n: int) -> None:
        for j in range(0, w.shape[1], 16):
            tile = tl.load(w, (n, j), 16) + tl.load(w, (n, 2 * n), 16)
            tl.store(y, j, tile.astype(tl.int32))

    assert str(kernel.build()).count("= tile.load ") == 2
