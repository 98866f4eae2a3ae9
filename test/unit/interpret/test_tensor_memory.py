"""Programs of tensor memory against numpy, before and behind the pass that finds its columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source

from ..compiler.pair_program import pair_program
from ..compiler.test_tensor_products import NUMPY, PRODUCTS
from .arrays import contents, kernel_of, views

BLACKWELL = Path(__file__).parents[3] / "examples" / "blackwell"
ALLOCATED = "tile-allocate-tensor-memory"
_DRAWN = (("algebraic", True), ("hardware", False), ("f64", True))


def result(
    text: str, arguments: list[Any], at: int, numerics: str, *, allocated: bool, ctas: int = 1
) -> tuple[Any, Any]:
    """What a program leaves of an argument, and the findings."""
    module, arithmetic = parse(Source("-", text), new_context()), arithmetic_of(numerics)
    if allocated:
        run_pipeline(module, ALLOCATED)
    function = kernel_of(module)
    given = views(function, arguments, arithmetic)
    done = interpret(function, given, arithmetic, grid=(ctas, 1, 1), target="sm_100a")
    return contents(given[at], done.memories[at]), done.findings


@pytest.mark.parametrize("number", range(len(PRODUCTS)))
def test_products(number: int) -> None:
    """Of all kinds, types and extents: numbers whose products are exact in each arithmetic."""
    product = PRODUCTS[number]
    numerics, allocated = _DRAWN[number % len(_DRAWN)]
    random = np.random.default_rng(number)
    d, a, b = (NUMPY[name] for name in product.elements)
    left = random.integers(-3, 4, (product.m, product.k)).astype(a)
    right = random.integers(-3, 4, (product.n, product.k)).astype(b)
    given = np.ascontiguousarray(right.T) if product.transposed else right
    arguments = [left, given, np.zeros((product.m, product.n), d)]
    found, findings = result(product.text(), arguments, 2, numerics, allocated=allocated)
    assert not findings
    np.testing.assert_array_equal(found, left.astype(np.int64) @ right.astype(np.int64).T)


@pytest.mark.parametrize(("m", "to_even"), [(128, False), (256, False), (256, True)])
def test_a_pair_of_ctas(m: int, to_even: bool) -> None:
    random = np.random.default_rng(m)
    a, b = (random.integers(-3, 4, (rows, 64)).astype(np.float16) for rows in (m, 64))
    arguments = [a, b, np.zeros((m, 64), np.float32)]
    text = pair_program(m, 64, to_even=to_even)
    found, findings = result(text, arguments, 2, "algebraic", allocated=m == 256, ctas=2)
    assert not findings
    np.testing.assert_array_equal(found, a.astype(int) @ b.astype(int).T)


def pieces(codes: Any) -> Any:
    """Scale factors of rows, in whole 128s, as cuBLAS has them: rows of 16 bytes."""
    rows, chunks = codes.shape
    blocks = codes.reshape(rows // 128, 4, 32, chunks // 4, 4)
    return np.ascontiguousarray(blocks.transpose(0, 3, 2, 1, 4)).reshape(-1, 16).view(np.int8)


def test_block_scaled_products() -> None:
    random = np.random.default_rng(4)
    a, b = (
        random.integers(-3, 4, (rows, 160)).astype(ml_dtypes.float8_e4m3fn) for rows in (40, 72)
    )
    codes = [random.integers(126, 129, (rows, 8)).astype(np.uint8) for rows in (128, 256)]
    arguments = [a, b, np.zeros((40, 72), np.float16), *map(pieces, codes)]
    text = (BLACKWELL / "gemm_mxf8.mlir").read_text()
    found, findings = result(text, arguments, 2, "f64", allocated=False)
    assert not findings
    wide = [
        one.astype(np.float64)
        * np.repeat(2.0 ** (of[: len(one)].astype(int) - 127), 32, axis=1)[:, :160]
        for one, of in zip((a, b), codes, strict=True)
    ]
    np.testing.assert_array_equal(found, wide[0] @ wide[1].T)


def shown(old: str, new: str) -> set[str]:
    """The kinds of what is found in the GEMM where one thing is another, and if it is wrong."""
    text = (BLACKWELL / "gemm.mlir").read_text()
    edited = re.sub(old, new, text, count=1)
    assert edited != text
    random = np.random.default_rng(1)
    a, b = (random.integers(-3, 4, (rows, 264)).astype(np.float16) for rows in (40, 72))
    arguments = [a, b, np.zeros((40, 72), np.float16)]
    found, findings = result(edited, arguments, 2, "f64", allocated=True)
    wrong = (found != a.astype(int) @ b.astype(int).T).any()
    return {one.kind for one in findings} | ({"result"} if wrong else set())


FAULTS = [
    (r"tile.barrier_wait %done.*\n", "\n", "race"),
    (r"%sums:2 = .*\n(.*)%sums#0(.*\n.*)%sums#1", r"\1%x0\2%x1", "result"),
]
FURTHER = [
    (r"tile.tcgen05_commit (%empty.*)", r"tile.barrier_arrive \1", "race"),
    (r"%adds = arith.cmpi ne, %k, %c0", "%adds = arith.cmpi uge, %k, %c0", "uninitialised"),
    (r"tile.tcgen05_commit %done.*\n", "\n", "deadlock"),
    (r"tile.barrier_wait %empty.*\n", "\n", "race"),
    (r"tile.barrier_wait %full.*\n", "\n", "race"),
    (r"%quarter = arith.andi %warp, %c3", "%quarter = arith.subi %warp, %c2", "bounds"),
    (r"%empty\[%s\] count 1", "%empty[%s] count 2", "deadlock"),
    (r"bytes 49152", "bytes 32768", "deadlock"),
    (r"nvvm.fence.proxy.*\n", "\n", "proxy"),
    (r"nvvm.fence.mbarrier.init", "", "proxy"),
    (r"if %adds", "if %true", "uninitialised"),
    (r"(%d\[%first, )%right", r"\1%left", "result"),
]


@pytest.mark.parametrize(("old", "new", "kind"), FAULTS)
def test_what_is_wrong_is_found(old: str, new: str, kind: str) -> None:
    assert kind in shown(old, new)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "kind"), FURTHER)
def test_further_faults_are_found(old: str, new: str, kind: str) -> None:
    assert kind in shown(old, new)
