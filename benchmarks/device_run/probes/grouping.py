"""Which products share a step: of sparse operands, 8-bit floats, and those of warpgroups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tilec.isa import Product
from tilec.isa import form as find_form
from tilec.layout import logical_column

from ..driver import Cuda
from .answer import Row, answer
from .steps import Products, step_of
from .warp import Warp

CASES = 8
"""Instructions that are executed, of 128 results each."""

_SPARSE = "mma.sp::ordered_metadata.sync.aligned."
FORMS = (
    f"{_SPARSE}m16n8k32.row.col.f32.f16.f16.f32",
    f"{_SPARSE}m16n8k32.row.col.f16.f16.f16.f16",
    f"{_SPARSE}m16n8k32.row.col.f32.bf16.bf16.f32",
    f"{_SPARSE}m16n8k16.row.col.f32.tf32.tf32.f32",
    f"{_SPARSE}m16n8k64.row.col.f32.e5m2.e5m2.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16",
    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32",
)
"""Of the last the answer is known; it shows that the probe finds it."""

_WGMMA = "wgmma.mma_async{}.sync.aligned.m64n8{}.a::descriptor"
WARPGROUP_FORMS = (
    _WGMMA.format(".sp", "k32.f32.f16.f16"),
    _WGMMA.format(".sp", "k32.f16.f16.f16"),
    _WGMMA.format(".sp", "k32.f32.bf16.bf16"),
    _WGMMA.format(".sp", "k16.f32.tf32.tf32"),
    _WGMMA.format(".sp", "k64.f32.e4m3.e4m3"),
    _WGMMA.format(".sp", "k64.f16.e5m2.e5m2"),
    _WGMMA.format("", "k16.f16.f16.f16"),
    _WGMMA.format("", "k32.f16.e5m2.e5m2"),
    _WGMMA.format("", "k32.f32.e4m3.e4m3"),
)
"""On sm_90a. Of the last the answer is known."""

LENGTHS = (4, 8, 16, 32, 64)
"""Terms of a step."""


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each form of warps."""
    yield from _rows(cuda, target, FORMS)


def of_warpgroups(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each form of warpgroups, where the target has them."""
    if target == "sm_90a":
        yield from _rows(cuda, target, WARPGROUP_FORMS)


def _rows(cuda: Cuda, target: str, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        form = find_form(name)
        assert isinstance(form, Product)
        warp = Warp(cuda, form, target)
        got, wanted = [], {}
        for case in range(CASES):
            matrices, column = inputs(form, case)
            got.append(warp.multiply(matrices))
            a, b, c = (matrices[n] for n in "abc")
            products = Products.of(form, a, b, c, column)
            for label, bits in hypotheses(form, target, products):
                wanted.setdefault(label, []).append(bits)
        warp.close()
        expected = {label: np.stack(bits) for label, bits in wanted.items()}
        given = {"inputs": f"benchmarks/device_run/probes/grouping.py, cases 0 to {CASES - 1}"}
        yield answer("products of a step", name, np.stack(got), expected, given)


def inputs(form: Product, case: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Matrices whose products differ much in exponent, and the columns that A stores."""
    rng = np.random.Generator(np.random.PCG64(case))
    stored = form.operand("a").cols
    spread = 7 if form.operand("d").type.name == "f32" else 4

    def numbers(shape: tuple[int, ...], spread: int) -> np.ndarray:
        return rng.standard_normal(shape) * np.exp2(rng.integers(-spread, spread + 1, shape))

    m, n, k = form.shape
    found = {
        "a": numbers((m, stored), spread),
        "b": numbers((k, n), spread),
        "c": numbers((m, n), spread),
    }
    column = np.broadcast_to(np.arange(stored), (m, stored))
    if form.sparsity:
        codes = rng.choice(np.array(form.sparsity.codes), (m, form.operand("e").cols))
        found["e"] = codes
        chunk = np.arange(stored) // (stored // codes.shape[1])
        column = np.asarray(logical_column(form, codes[:, chunk], np.arange(stored)))
    return found, column


def hypotheses(form: Product, target: str, products: Products) -> Iterator[tuple[str, np.ndarray]]:
    """Ways to lay products out in steps, and the bits that each gives; no way twice."""
    step = step_of(form, target)
    count = len(products.column)
    stored = np.broadcast_to(np.arange(count)[:, None], products.column.shape)
    orders = {"stored elements": (stored, count)}
    if form.sparsity:
        orders["logical columns"] = (products.column, form.shape.k)
    known = set()
    for order, (index, extent) in orders.items():
        for split, masks in _splits(index, extent).items():
            for length in LENGTHS:
                parts = [part for mask in masks for part in _runs(index, mask, length, order)]
                key = b"".join(part.tobytes() for part in parts)
                if key in known:
                    continue
                known.add(key)
                label = f"{length} {order} a step, {split}"
                yield label, products.chain(step, parts, c_last=False)
                yield f"{label}, C added last", products.chain(step, parts, c_last=True)


def _splits(index: np.ndarray, extent: int) -> dict[str, list[np.ndarray]]:
    """Which elements come first, by how it is called."""
    return {
        "in order": [index >= 0],
        "even, then odd": [index % 2 == 0, index % 2 == 1],
        "k mod 4 below 2, then the rest": [index % 4 < 2, index % 4 >= 2],
        "lower half, then upper half": [index < extent // 2, index >= extent // 2],
    }


def _runs(index: np.ndarray, mask: np.ndarray, length: int, order: str) -> Iterator[np.ndarray]:
    """The elements of a mask by so many stored ones, or by the blocks of columns they are in."""
    if order == "stored elements":
        place = np.where(mask, np.cumsum(mask, axis=0) - 1, -1)
    else:
        place = np.where(mask, index, -1)
    for first in range(0, int(place.max()) + 1, length):
        part = (place >= first) & (place < first + length)
        if part.any():
            yield part
