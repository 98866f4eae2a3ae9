"""`mma.m8n8k4` on f16, for which later architectures have no tensor instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tilec.isa import Mma
from tilec.isa import form as find_form
from tilec.sim.tensor.dot import factors, fused

from ..driver import Cuda
from .answer import Row, answer
from .steps import step_of
from .warp import Warp

CASES = 16
"""Instructions that are executed, of 256 results each."""

FORMS = (
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
)


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each form."""
    for name in FORMS:
        form = find_form(name)
        assert isinstance(form, Mma)
        warp = Warp(cuda, form, target)
        got, wanted = [], {}
        for case in range(CASES):
            a, b, c = inputs(form, case)
            got.append(warp.multiply({"a": a, "b": b, "c": c}))
            for label, d in hypotheses(form, target, a, b, c):
                wanted.setdefault(label, []).append(d.view(f"u{d.dtype.itemsize}"))
        warp.close()
        expected = {label: np.stack(bits) for label, bits in wanted.items()}
        yield answer("sums of m8n8k4", name, np.stack(got), expected)


def inputs(form: Mma, case: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Matrices of four products, whose exponents differ: so orders and roundings do."""
    rng = np.random.Generator(np.random.PCG64(case))
    m, n, k = form.shape
    total = np.float16 if form.operand("c").type.name == "f16" else np.float32
    a, b, c = (
        rng.standard_normal((4, *shape)) * np.exp2(rng.integers(-4, 5, (4, *shape)))
        for shape in ((m, k), (k, n), (m, n))
    )
    return a.astype(np.float16), b.astype(np.float16), c.astype(total)


def hypotheses(
    form: Mma, target: str, a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Ways to add four products and C, and what each gives."""
    left = a.transpose(2, 0, 1)[..., None]  # (k, product, m, 1)
    right = b.transpose(1, 0, 2)[:, :, None]  # (k, product, 1, n)
    kinds = form.operand("a").type, form.operand("b").type
    sides = [
        factors(np.ascontiguousarray(side, np.float32), kind)
        for side, kind in zip((left, right), kinds, strict=True)
    ]
    dense = find_form(f"mma.sync.aligned.m16n8k16.row.col.{form.ptx.rpartition('col.')[2]}")
    assert isinstance(dense, Mma)
    yield "one step of a tensor core", fused(step_of(dense, target), *sides, c.copy())
    # In float64 products are exact, and so are sums of two that differ as little as these.
    terms = left.astype(np.float64) * right.astype(np.float64)
    for type_ in (np.float32, np.float16):
        of = f"fused multiply-adds of {np.dtype(type_).name}"
        if type_ is np.float16 and c.dtype == np.float32:
            continue
        for order in ((0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 1, 3), (1, 0, 3, 2)):
            yield f"{of}, k {order}, C first", chained(terms, order, c, type_).astype(c.dtype)
            alone = chained(terms, order, np.zeros_like(c), type_)
            with_c = (alone + c.astype(type_)).astype(c.dtype)
            yield f"{of}, k {order}, C last", with_c
        pairs = [chained(terms, order, np.zeros_like(c), type_) for order in ((0, 1), (2, 3))]
        yield f"{of}, C and two pairs", (c.astype(type_) + pairs[0] + pairs[1]).astype(c.dtype)


def chained(
    terms: np.ndarray, order: Sequence[int], c: np.ndarray, type_: type[np.floating]
) -> np.ndarray:
    """C and the products one after the other, rounded each time."""
    total = c.astype(type_)
    for k in order:
        total = (total.astype(np.float64) + terms[k]).astype(type_)
    return total
