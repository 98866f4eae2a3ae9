"""Forms of wgmma through the dialect: compiled, assembled, run on the simulator, against numpy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa import target

from .wgmma_kernels import BITS, LINES, Product, text

DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "u8": np.uint8,
    "f32": np.float32, "s32": np.int32,
}  # fmt: skip
TYPES = [
    *((d, a, a) for d, a in (("f16", "f16"), ("f32", "f16"), ("f32", "bf16"), ("f32", "tf32"))),
    *itertools.product(("f16", "f32"), ("e4m3", "e5m2"), ("e4m3", "e5m2")),
    *(("s32", a, b) for a, b in itertools.product(("s8", "u8"), repeat=2)),
    ("s32", "b1", "b1"),
]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


def small(rng: np.random.Generator, type_: str, shape: tuple[int, ...]) -> Numbers:
    """Numbers that every type of the product, and their sums, hold exactly."""
    low, high = {"b1": (0, 2), "u8": (0, 4)}.get(type_, (-2, 3))
    return rng.integers(low, high, shape)


def stored(numbers: Numbers, type_: str, transposed: bool) -> Any:
    """A matrix by K as memory holds it; bits packed, low ones first."""
    array = np.ascontiguousarray(numbers.T if transposed else numbers)
    if type_ == "b1":
        return np.packbits(array.astype(np.uint8), axis=1, bitorder="little").view(np.int8)
    array = array.astype(DTYPES[type_])
    return array.view(np.int8) if type_ == "u8" else array


def chosen(rng: np.random.Generator, product: Product) -> tuple[Numbers, Numbers]:
    """Of a sparse A, the columns of its stored elements, and a code for each of its chunks.

    Two of four elements; of tf32 one of two, each of which counts as two halves.
    """
    k = product.k * product.steps
    if product.a == "tf32":
        which = rng.integers(0, 2, (64, k // 2))
        return 2 * np.arange(k // 2) + which, np.where(which, 0b1110, 0b0100)
    pairs = np.array([*itertools.combinations(range(4), 2)])[rng.integers(0, 6, (64, k // 4))]
    columns = 4 * np.arange(k // 4)[:, None] + pairs
    return columns.reshape(64, -1), pairs[..., 0] | pairs[..., 1] << 2


def metadata(codes: Numbers, product: Product) -> Any:
    """Codes as the kernel loads them, (steps, 64, 8) bytes; those that no instruction reads: 15."""
    by_step = codes.reshape(64, product.steps, -1).transpose(1, 0, 2)
    whole = np.full((product.steps, 64, 16), 15, np.uint8)
    first = 8 * product.selector
    whole[..., first : first + by_step.shape[2]] = by_step
    return (whole[..., ::2] | whole[..., 1::2] << 4).view(np.int8)


def check(product: Product, ptxases: list[Any]) -> None:
    compiled = tilec.compile(text(product))
    assert compiled.ptx.count("wgmma.mma_async") == product.steps
    for ptxas in ptxases:
        status, report = ptxas.run(compiled.ptx, "sm_90a")
        assert status == 0, report
    rng = np.random.default_rng([product.n, *map(ord, product.form)])
    b = small(rng, product.b, (product.n, product.k * product.steps))
    a = values = small(rng, product.a, (64, product.stored * product.steps))
    more = []
    if product.sparse:
        columns, codes = chosen(rng, product)
        values[values == 0] = 1
        a = np.zeros((64, product.k * product.steps), np.int64)
        np.put_along_axis(a, columns, values, axis=1)
        more = [metadata(codes, product)]
    d = np.zeros((64, product.n), DTYPES[product.d])
    compiled.launch(
        stored(values, product.a, product.transposed[0]),
        stored(b, product.b, product.transposed[1]),
        d, *more, grid=1, device="sim",
    )  # fmt: skip
    expected = product.signs[0] * product.signs[1] * (a @ b.T)
    np.testing.assert_array_equal(d.astype(np.int64), expected)


def legal(product: Product) -> bool:
    """Whether there is such a form, and a layout of its operands: the ISA's rules."""
    few = (8, 16, 24, *range(32, 257, 16))
    wide = BITS[product.a] == 16
    flips = product.transposed
    return (
        not (product.sparse and product.a == "b1")
        and (product.d != "s32" or product.n in few)
        and (product.d != "s32" or product.signs == (1, 1))
        and (not any(flips) or wide)
        and not (product.registers and flips[0])
        # Where the second half of 64 bytes of B would lie is not documented.
        and not (product.sparse and product.swizzles[1] == "32B" and not flips[1])
        and not (product.selector and (not product.sparse or BITS[product.a] == 8))
        and not (product.satfinite and (product.d != "s32" or product.a == "b1"))
    )


def everything() -> list[Product]:
    """All kinds of operands, places and signs that go together, each with some N in turn."""
    sizes = itertools.cycle((8, 16, 32, 64, 96, 128, 176, 24, 256, 48, 80))
    found = []
    for (d, a, b), sparse, registers, swizzles, flips in itertools.product(
        TYPES,
        (False, True),
        (False, True),
        itertools.product(LINES, repeat=2),
        itertools.product((False, True), repeat=2),
    ):
        n = next(sizes)
        turn = len(found)
        product = Product(
            d, a, b, n, sparse, registers, swizzles, flips,
            signs=((1, 1), (-1, 1), (1, -1), (-1, -1))[turn % 4] if d != "s32" else (1, 1),
            selector=turn // 4 % 2 if sparse and BITS[a] > 8 else 0,
            satfinite=d == "s32" and a != "b1" and turn % 2 == 0,
        )  # fmt: skip
        if legal(product):
            found.append(product)
    return found


EVERYTHING = everything()
DRAWN = [*np.random.default_rng(20261123).permutation(len(EVERYTHING))[:48].tolist()]


@pytest.mark.parametrize("number", sorted(DRAWN), ids=lambda n: str(EVERYTHING[n].form)[16:])
def test_a_drawn_part(number: int, assemblers_for: Callable[..., list[Any]]) -> None:
    check(EVERYTHING[number], assemblers_for(target("sm_90a")))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_all(part: int, assemblers_for: Callable[..., list[Any]]) -> None:
    ptxases = assemblers_for(target("sm_90a"))
    for product in EVERYTHING[part::16]:
        check(product, ptxases)


EVERY_N = [
    Product("f32", "f16", "f16", n, swizzles=("128B", swizzle), transposed=(False, turned))
    for n in range(8, 257, 8)
    for swizzle in LINES
    for turned in (False, True)
]
"""Every N by every swizzle and majorness of B: N need not be whole lines of it."""


def _named(number: int) -> str:
    product = EVERY_N[number]
    return f"{product.shape}-{product.swizzles[1]}-{'N' if product.transposed[1] else 'K'}"


@pytest.mark.parametrize(
    "number",
    sorted({*np.random.default_rng(15).permutation(len(EVERY_N))[:12].tolist(), 71, 70, 67, 199}),
    ids=_named,
)
def test_a_drawn_n(number: int, assemblers_for: Callable[..., list[Any]]) -> None:
    check(EVERY_N[number], assemblers_for(target("sm_90a")))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_every_n(part: int, assemblers_for: Callable[..., list[Any]]) -> None:
    ptxases = assemblers_for(target("sm_90a"))
    for product in EVERY_N[part::8]:
        check(product, ptxases)
