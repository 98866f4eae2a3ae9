"""Tiles taken apart, put together, turned round and multiplied by stacks, against numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

Case = tuple[Callable[[Any], Any], Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]]

CASES: dict[str, Case] = {
    "part": (lambda x: x[:, 8:16], lambda x: x[:, 8:16]),
    "steps": (lambda x: x[1::2, ::4], lambda x: x[1::2, ::4]),
    "steps of a part": (lambda x: x[8::2, 1:16:2], lambda x: x[8::2, 1:16:2]),
    "reverse": (lambda x: x[::-1, 15::-1], lambda x: x[::-1, 15::-1]),
    "reverse steps": (lambda x: x[:, ::-2], lambda x: x[:, ::-2]),
    "line": (lambda x: x[-1], lambda x: x[-1]),
    "flip": (lambda x: tl.flip(x, 0), lambda x: np.flip(x, 0)),
    "flip all": (tl.flip, np.flip),
    "join": (lambda x: tl.join(x, x + 1), lambda x: np.stack((x, x + 1), -1)),
    "split": (lambda x: sum(tl.split(x.reshape(16, 16, 2))), lambda x: x[:, ::2] + x[:, 1::2]),
    "halves": (
        lambda x: tl.join(*tl.split(x.reshape(16, 16, 2))[::-1]).reshape(16, 32),
        lambda x: x.reshape(16, 16, 2)[..., ::-1].reshape(16, 32),
    ),
    "interleave": (
        lambda x: tl.interleave(x, -x),
        lambda x: np.stack((x, -x), -1).reshape(16, 64),
    ),
    "stack": (
        lambda x: tl.stack([x, x + 1, x + 2, x + 3], 1),
        lambda x: np.stack([x, x + 1, x + 2, x + 3], 1),
    ),
    "concatenate": (
        lambda x: tl.concatenate((x[:, :16], x * 2 if False else x[:, 16:] * 2), 1),
        lambda x: np.concatenate((x[:, :16], x[:, 16:] * 2), 1),
    ),
    "ravel": (tl.ravel, np.ravel),
    "four dimensions": (
        lambda x: x.reshape(2, 8, 4, 8).transpose(2, 0, 3, 1) + 1,
        lambda x: x.reshape(2, 8, 4, 8).transpose(2, 0, 3, 1) + 1,
    ),
    "sums of three": (
        lambda x: x.reshape(4, 4, 32).sum(axis=1) + x.reshape(4, 8, 16).max(axis=2)[:, :1],
        lambda x: x.reshape(4, 4, 32).sum(1) + x.reshape(4, 8, 16).max(2)[:, :1],
    ),
    "five dimensions": (
        lambda x: tl.cumsum(x.reshape(2, 2, 4, 4, 8), 2)[:, 1],
        lambda x: np.cumsum(x.reshape(2, 2, 4, 4, 8), 2)[:, 1],
    ),
}

In = tl.Array[tl.float32, int, int]


@tilec.kernel
def rearranged(x: In, out: tl.Array[tl.float32, int], CASE: tl.Constant[Any]) -> None:  # noqa: N803
    found = tl.ravel(CASE[0](tl.load(x, (0, 0), (16, 32))))
    tl.store(out, 0, found)


@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("name", CASES)
def test_it_is_what_numpy_gives(name: str, target: str) -> None:
    x = np.random.default_rng(0).integers(-99, 100, (16, 32)).astype(np.float32)
    expected = np.ravel(CASES[name][1](x))
    out = np.full(expected.size, np.nan, np.float32)
    report = rearranged.using(target=target, warps=2)[1](x, out, CASE=CASES[name])
    assert not report.findings
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", ["bool_", "int8", "float8_e4m3fn", "uint16", "int64", "int4"])
def test_every_element_type_is_rearranged(dtype: str) -> None:
    element = getattr(tl, dtype)

    @tilec.kernel(warps=1)
    def kernel(x: tl.Array[tl.int32, int], out: tl.Array[tl.int32, int]) -> None:
        held = tl.load(x, 0, 64)
        held = (held > 3).astype(element) if element is tl.bool_ else held.astype(element)
        joined = tl.interleave(tl.flip(held), held[::-1])
        tl.store(out, 0, joined[::2].astype(tl.int32))

    x, out = np.arange(64, dtype=np.int32) % 8, np.empty(64, np.int32)
    kernel[1](x, out)
    np.testing.assert_array_equal(out, (x > 3)[::-1] if element is tl.bool_ else x[::-1])


Stack = tl.Array[tl.float16, int, int, int]


@tilec.kernel
def products(a: Stack, b: Stack, c: tl.Array[tl.float32, int, int, int]) -> None:
    acc = tl.ones((4, 32, 32))
    for k in range(0, a.shape[2], 16):
        acc = tl.dot(tl.load(a, (0, 0, k), (4, 32, 16)), tl.load(b, (0, k, 0), (4, 16, 32)), acc)
    tl.store(
        c, (0, 0, 0), acc + tl.load(a, (0, 0, 0), (4, 32, 16)) @ tl.load(b, (0, 0, 0), (4, 16, 32))
    )


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
def test_stacks_of_matrices(target: str) -> None:
    random = np.random.default_rng(0)
    a = random.integers(-4, 5, (4, 30, 48)).astype(np.float16)
    b = random.integers(-4, 5, (4, 48, 20)).astype(np.float16)
    c = np.empty((4, 30, 20), np.float32)
    report = products.using(target=target)[1](a, b, c)
    assert not report.findings
    x, y = a.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(c, 1 + x @ y + x[..., :16] @ y[:, :16])


@tilec.kernel
def counted(
    x: tl.Array[Any, int],
    out: tl.Array[tl.int32, int],
    SIZE: tl.Constant[int],  # noqa: N803
    BINS: tl.Constant[int],  # noqa: N803
) -> None:
    held = tl.load(x, 0, SIZE)
    tl.store(out, 0, tl.histogram(held, BINS, mask=tl.arange(SIZE) < x.shape[0]))


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize(
    ("size", "bins", "dtype"),
    [
        (1024, 64, "int32"),
        (8, 4, "int8"),
        (256, 1, "int64"),
        (512, 1024, "uint16"),
        (64, 16, "uint8"),
        (64, 256, "uint8"),
        (32, 512, "int8"),
    ],
)
def test_histograms(size: int, bins: int, dtype: str, target: str) -> None:
    low = 0 if dtype.startswith("u") else -3
    x = np.random.default_rng(0).integers(low, min(bins + 9, 120), size - 3).astype(dtype)
    out = np.full(bins, -1, np.int32)
    report = counted.using(target=target)[1](x, out, SIZE=size, BINS=bins)
    assert not report.findings
    np.testing.assert_array_equal(out, np.bincount(x[(x >= 0) & (x < bins)], minlength=bins))


def half(n: int) -> Any:
    return tl.zeros(n, tl.float16)


WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: half(16)[1:5], "slices of a power of two .* not by 1:5 of 16"),
    (lambda: half(16)[::3], "in steps of a power of two or -1, .* not by ::3 of 16"),
    (lambda: half(16)[0:0], "not by 0:0 of 16"),
    (lambda: half(16)[16], "index 16 is out of range for dimension 0"),
    (lambda: tl.flip(half(48)), "flip needs an axis whose extent is a power of two, unlike"),
    (lambda: tl.flip(half(16), 1), "axis 1 is out of range for float16"),
    (
        lambda: tl.join(half(16), half(8)),
        r"one type and shape, not float16 \[16\] and float16 \[8\]",
    ),
    (lambda: tl.interleave(half(16), tl.zeros(16)), "one type and shape"),
    (lambda: tl.stack([half(16)] * 3), "a power of two of tiles"),
    (lambda: tl.stack([half(16)] * 2, 3), "axis 3 is out of range for 2 dimensions"),
    (lambda: tl.concatenate([]), "a power of two of tiles"),
    (lambda: tl.split(half(16)), r"last dimension is of extent 2, not float16 \[16\]"),
    (lambda: tl.histogram(half(16), 16), "a histogram is of a tile of integers, not float16"),
    (lambda: tl.histogram(tl.arange(16), 12), "must be a power of two, not 12"),
    (lambda: tl.histogram(tl.arange(16), 192), "must be a power of two, not 192"),
    (lambda: tl.histogram(tl.arange(16), 16, tl.arange(8) > 2), "does not broadcast to"),
    (
        lambda: tl.dot(half(1024).reshape(4, 16, 16), half(256).reshape(16, 16)),
        r"b of a product of 4 matrices is a tile of rank 3 of as many, not float16 \[16, 16\]",
    ),
    (
        lambda: tl.dot(*[half(1024).reshape(4, 16, 16)] * 2, tl.zeros((2, 16, 16))),
        "acc of a product of 4 matrices",
    ),
]


@pytest.mark.parametrize(("make", "reason"), WRONG, ids=[reason[:24] for _, reason in WRONG])
def test_misuse_is_refused(make: Callable[[], object], reason: str) -> None:
    @tilec.kernel
    def kernel(n: int) -> None:
        make()

    with pytest.raises(tl.KernelError, match=reason) as caught:
        kernel.build()
    assert caught.value.place.file == __file__
