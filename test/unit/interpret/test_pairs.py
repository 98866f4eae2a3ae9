"""Products of tiles that pairs of CTAs compute, at level 2, against numpy, and faults in them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.report.diagnostics import Source

from ..compiler.pair_tiles import pair_copies, pair_tiles
from .arrays import contents, kernel_of, views


def run(text: str, arrays: list[Any], ctas: int, numerics: str = "algebraic") -> tuple[Any, Any]:
    """What a program leaves of its last argument, and the kinds of findings."""
    module, arithmetic = parse(Source("-", text), new_context()), arithmetic_of(numerics)
    function = kernel_of(module)
    given = views(function, arrays, arithmetic)
    done = interpret(function, given, arithmetic, grid=(ctas, 1, 1), target="sm_100a")
    return contents(given[-1], done.memories[-1]), done.kinds


def matrices(rows: int, n: int, depth: int) -> list[Any]:
    rng = np.random.default_rng(rows)
    a, b = (rng.integers(-3, 4, (extent, depth)).astype(np.float16) for extent in (rows, n))
    return [a, b, np.zeros((rows, n), np.float32)]


@pytest.mark.parametrize("numerics", ["algebraic", "hardware", "f64"])
def test_two_pairs(numerics: str) -> None:
    """Each CTA has its own rows of the product with all columns of B, of which it loads half."""
    a, b, c = matrices(512, 32, 168)
    found, kinds = run(pair_tiles(128, 32), [a, b, c], 4, numerics)
    assert not kinds
    np.testing.assert_array_equal(found, a.astype(int) @ b.astype(int).T)


def test_copies_of_all_threads() -> None:
    """Of ragged extents; nothing but the product tells a CTA how far the other is."""
    a, b, c = matrices(226, 104, 200)
    text = pair_copies(automatic=False)
    found, kinds = run(text, [a, np.ascontiguousarray(b.T), c], 2)
    assert not kinds
    np.testing.assert_array_equal(found, a.astype(int) @ b.astype(int).T)


FAULTS = {
    "the halves of B are exchanged": (
        r"%col = arith.muli %rank, %half : index",
        "%other_rank = arith.subi %c1, %rank : index\n"
        "    %col = arith.muli %other_rank, %half : index", set(),
    ),
    "a CTA loads the same half as the other": (r"%col = arith.muli %rank, %half : index",
        "%col = arith.muli %c0, %half : index", set()),
    "the product does not wait for its operands": (
        r"tile\.barrier_wait [^\n]*\n", "", {"race"},
    ),
    "only one CTA of the pair multiplies": (
        r"(%start = [^\n]*\n    %sums, %last = scf.for %k = %c0 to )%depth",
        r"%end = arith.muli %rank, %depth : index\n    \1%end", {"deadlock"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    """Each is seen: by a finding, or by the result."""
    old, new, wanted = FAULTS[name]
    text, count = re.subn(old, new, pair_tiles(128, 32), count=1)
    assert count
    a, b, c = matrices(256, 32, 128)
    found, kinds = run(text, [a, b, c], 2)
    assert kinds == wanted
    if not wanted:
        assert (found != a.astype(int) @ b.astype(int).T).any()


CLUSTER = """
gpu.module @m {
  gpu.func @k(%m: memref<?xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : i32
    %thread = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %loads = arith.cmpi uge, %thread, %c32 : index
    scf.if %loads {
    } {tile.producer = array<i64: 64, 0, 0>}
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    %block = gpu.block_id x
    memref.store %c1, %m[%block] : memref<?xi32>
    gpu.return
  }
}
"""  # noqa: E501


def test_nobody_waits_for_threads_that_have_exited() -> None:
    """PTX ISA, "barrier.cluster": for all non-exited threads. Those that load have, here."""
    found, kinds = run(CLUSTER, [np.zeros(2, np.int32)], 2)
    assert not kinds
    np.testing.assert_array_equal(found, [1, 1])
