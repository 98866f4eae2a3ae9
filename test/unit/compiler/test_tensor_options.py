"""Lanes of D that stay, a power of two that it is divided by, columns of B that count as 0."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import TARGETS, TilecError

from .tensor_agreement import agree
from .tensor_programs import Product

F16 = Product(
    "cta_group::1.kind::f16", "f32.f16.f16", ("f32", "f16", "f16"), 128, 16, 32, 16, "64B"
)
HALVES = replace(F16, types="f16.f16.f16", elements=("f16", "f16", "f16"), m=64)


def with_options(product: Product, options: str) -> str:
    """The program, the last of whose products has them."""
    head, form, last = product.text().rpartition(f'types = "{product.types}"')
    return f"{head}{form}, {options}{last}"


def arguments(product: Product) -> tuple[list[Any], list[Any]]:
    """A, B, room for D; and the product of each instruction."""
    rng = np.random.default_rng(product.m)
    numbers = [np.float32 if one == "f32" else np.float16 for one in product.elements]
    a = rng.integers(-3, 4, (product.m, product.k)).astype(numbers[1])
    b = rng.integers(-3, 4, (product.n, product.k)).astype(numbers[2])
    steps = range(0, product.k, product.step)
    of_step = [
        a[:, at : at + product.step].astype(np.float64) @ b[:, at : at + product.step].T
        for at in steps
    ]
    return [a, b, np.zeros((product.m, product.n), numbers[0])], of_step


@pytest.mark.parametrize("product", [F16, HALVES], ids=["128 rows", "64 rows"])
def test_lanes_and_an_exponent(product: Product, assemblers_for: Callable[..., list[Any]]) -> None:
    """Row m of 64 is in lane 32·(m / 16) + m mod 16."""
    words = [0x0000F0F1, 0x7FFF, 0, 0xFFFFFFFF]
    signed = ", ".join(str(word - (word >> 31 << 32)) for word in words)
    text = with_options(product, f"keep_lanes = array<i32: {signed}>, exponent = 2")
    given, (first, second) = arguments(product)
    row = np.arange(product.m)
    lane = row if product.m == 128 else 32 * (row // 16) + row % 16
    kept = np.array([words[at // 32] >> at % 32 & 1 for at in lane], bool)
    wanted = np.where(kept[:, None], first, first / 4 + second)
    ptx = agree(text, given, wanted, assemblers_for)
    assert re.search(r"\{%r\d+, %r\d+, %r\d+, %r\d+\}, %p\d+, 2;", ptx)


def test_columns_that_count_as_zero(assemblers_for: Callable[..., list[Any]]) -> None:
    """Of 32 rows D has four banks of lanes, each with its own sequence: used 2, zero 3."""
    product = replace(F16, m=32, n=64, stationary=True, k=16, swizzle="32B")
    starts, first = (0, 1, 2, 4), (0, 1, 0, 1)
    word = sum(one << 8 * n for n, one in enumerate(starts))
    word |= (
        sum(one << 32 + n for n, one in enumerate(first)) | 1 << 39 | (3 - 1) << 40 | (2 - 1) << 48
    )
    text = with_options(product, f"zero_columns = {word}")
    given, (whole,) = arguments(product)
    zero: list[bool] = []
    for start, zero_first in zip(starts, first, strict=True):
        run = [True] * 3 + [False] * 2 if zero_first else [False] * 2 + [True] * 3
        zero += (run * 5)[start : start + 16]
    wanted = np.where(zero, 0, whole)
    assert re.search(rf"%p\d+, {word};", agree(text, given, wanted, assemblers_for))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("sm_100f", "sm_110f") else pytest.mark.slow)
        for name, one in TARGETS.items()
        if one.number >= 90
    ],
)
def test_which_target_divides(name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    """By the ISA's table sm_100, sm_103 and sm_107; elsewhere it is refused at its line."""
    text = with_options(F16, "exponent = 1")
    if re.fullmatch("sm_10[037][af]", name):
        ptx = tilec.compile(text, target=name, cache=False).ptx
        assert assemblers_for(TARGETS[name])[-1].run(ptx, name) == (0, "")
        return
    with pytest.raises(TilecError) as found:
        _ = tilec.compile(text, target=name, name="p.mlir", cache=False).ptx
    line = 1 + next(n for n, one in enumerate(text.splitlines()) if "exponent" in one)
    first = next(n for n, one in enumerate(text.splitlines(), 1) if "tile.alloc_tensor" in one)
    has_memory = TARGETS[name].has_tensor_memory
    said = (
        rf"(?m)^p\.mlir:{line if has_memory else first}:\d+: error: .*does not exist on {name}; it"
    )
    assert re.search(said, str(found.value)), found.value
