"""Copies of boxes against numpy: im2col, element strides, reductions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import Outcome, arithmetic_of, interpret
from tilec.interpret.boxes import im2col_coordinates
from tilec.isa.boxes import Im2col
from tilec.report.diagnostics import Source

from .arrays import contents, kernel_of, views


@pytest.mark.parametrize(
    ("lower", "upper", "step"), [((-1, -1), (1, -2), 1), ((0, -2), (-1, 2), 2)]
)
def test_im2col(lower: tuple[int, int], upper: tuple[int, int], step: int) -> None:
    """Pixels, image after image and row after row, of those whose places the corners leave."""
    sizes = (3, 6, 7, 8)
    rows, cols = (
        range(low, size + high, step) for low, high, size in zip(lower, upper, (6, 7), strict=True)
    )
    pixels = list(product(range(20), rows, cols))
    first, offsets = 5, (2, 1)  # the offsets are those of W, then of H
    box = Im2col(lower[::-1], upper[::-1], 8, 40)
    at = (*pixels[first], 3)
    found = im2col_coordinates(at, box, sizes, (1, step, step, 1), offsets)
    expected = [(n, h + 1, w + 2) for n, h, w in pixels[first : first + 40]]
    assert [tuple(int(one[k, 0]) for one in found[:3]) for k in range(40)] == expected
    np.testing.assert_array_equal(found[3][7], 3 + np.arange(8))


PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_90a">] {{
  gpu.func @k(%m: memref<?x?xi32>, %d: memref<?x?xi32>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %even = arith.constant false
    %s = tile.alloc_shared : memref<8x8xi32, #tile.shared<"32B">>
    %b = tile.alloc_shared : memref<1xi64, #tile.shared<"none">>
    %thread = gpu.thread_id x
    %one = arith.cmpi eq, %thread, %c0 : index
    scf.if %one {{
      tile.barrier_init %b[%c0] count 1 : memref<1xi64, #tile.shared<"none">>
      nvvm.fence.mbarrier.init
      tile.barrier_expect %b[%c0] bytes 256 : memref<1xi64, #tile.shared<"none">>
      tile.tma_load %m[%c3, %c4] to %s[%c0, %c0] signal %b[%c0] shape [8, 8] {steps}
          : memref<?x?xi32> to memref<8x8xi32, #tile.shared<"32B">>
            signal memref<1xi64, #tile.shared<"none">>
      tile.barrier_wait %b[%c0] parity %even : memref<1xi64, #tile.shared<"none">>
      {out} %d[%c3, %c4] from %s[%c0, %c0] shape [8, 8]
          : memref<?x?xi32> from memref<8x8xi32, #tile.shared<"32B">>
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }}
    gpu.return
  }}
}}
"""


def launched(
    steps: str, out: str, source: np.ndarray, target: np.ndarray
) -> tuple[Outcome, np.ndarray]:
    module = parse(Source("-", PROGRAM.format(steps=steps, out=out)), new_context())
    function, arithmetic = kernel_of(module), arithmetic_of("hardware")
    given = views(function, [source, target], arithmetic)
    done = interpret(function, given, arithmetic, target="sm_90a")
    return done, contents(given[1], done.memories[1])


def arrays() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    return random.integers(-50, 50, (17, 8)).astype(np.int32), random.integers(0, 9, (9, 8)).astype(
        np.int32
    )


def test_element_strides_and_what_lies_outside() -> None:
    source, target = arrays()
    done, got = launched("{element_strides = array<i64: 2, 1>}", "tile.tma_store", source, target)
    assert not done.findings
    box = np.zeros((8, 8), np.int32)
    box[:7, :4] = source[3::2, 4:]
    target[3:, 4:] = box[:6, :4]
    np.testing.assert_array_equal(got, target)


def _wraps(old: np.ndarray, most: np.ndarray) -> np.ndarray:
    return (old == 0) | (old > most.view(np.uint32))


@pytest.mark.parametrize(
    ("fn", "update"),
    [
        ("add", np.add),
        ("max", np.maximum),
        ("xor", np.bitwise_xor),
        ("inc", lambda old, most: np.where(old >= most.view(np.uint32), 0, old + 1)),
        ("dec", lambda old, most: np.where(_wraps(old, most), most, old - 1)),
    ],
)
def test_reductions(fn: str, update) -> None:
    source, target = arrays()
    done, got = launched("", f"tile.tma_reduce {fn}", source, target)
    assert not done.findings
    target[3:, 4:] = update(target[3:, 4:], source[3:9, 4:])
    np.testing.assert_array_equal(got, target)


def test_an_array_that_no_map_tells() -> None:
    source, target = arrays()
    done, _ = launched("", "tile.tma_store", source[:, :7].copy(), target)
    assert done.kinds == {"bounds"}
