"""Boxes of arrays of any rank, type and swizzle, in and out; and every reduction; against numpy.

What a copy brought is read by plain loads, and what plain stores wrote a copy takes away, so that
the places of elements in shared memory are held against those of `tile.load` and `tile.store`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa import target

LINES = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
DTYPES: dict[str, Any] = {
    "i8": np.int8, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "i32": np.int32, "i64": np.int64, "f64": np.float64,
}  # fmt: skip
ROWS = 32
HEAD = """
!M = {array}
!S = memref<1x{rows}x{cols}x{element}, #tile.shared<"{swizzle}">>
!B = memref<1xi64, #tile.shared<"none">>
!F = !tile.frag<tensor<{rows}x{cols}x{element}>, #tile.layout<"{layout}">>
gpu.module @m [#nvvm.target<chip = "sm_90">] {{
  gpu.func @k(%a: !M, %c: !M, %d: memref<{rows}x{cols}x{element}>) kernel attributes {{
      known_block_size = array<i32: 32, 1, 1>}} {{
    %s = tile.alloc_shared : !S
    %o = tile.alloc_shared : !S
    %b = tile.alloc_shared : !B
    %even = arith.constant false
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %line = arith.constant {chunk} : index
    %thread = gpu.thread_id x
    %first = arith.cmpi eq, %thread, %c0 : index
    scf.if %first {{
      tile.barrier_init %b[%c0] count 1 : !B
      nvvm.fence.mbarrier.init
      tile.tma_prefetch %a[{outer}%c3, %line] shape [{rows}, {cols}] : !M
      tile.barrier_expect %b[%c0] bytes {bytes} : !B
      tile.tma_load %a[{outer}%c3, %line] to %s[%c0, %c0, %c0] signal %b[%c0] shape [{rows}, {cols}]
          : !M to !S signal !B
    }}
    gpu.barrier
    tile.barrier_wait %b[%c0] parity %even : !B
    %f = tile.load %s[%c0, %c0, %c0] : !S -> !F
    tile.store %f, %d[%c0, %c0] : !F, memref<{rows}x{cols}x{element}>
    tile.store %f, %o[%c0, %c0, %c0] : !F, !S
    nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
    gpu.barrier
    scf.if %first {{
      {out} from %o[%c0, %c0, %c0] shape [{rows}, {cols}] : !M from !S
      nvvm.cp.async.bulk.commit.group
      nvvm.cp.async.bulk.wait_group 0
    }}
    gpu.return
  }}
}}
"""


def text(element: str, rank: int, swizzle: str, out: str = "tile.tma_store") -> str:
    size = np.dtype(DTYPES[element]).itemsize
    cols = LINES[swizzle] // size
    columns = " ".join(f"[0,{1 << i}]" for i in range(cols.bit_length() - 1))
    outer = "%c1, " * (rank - 2)
    return HEAD.format(
        array=f"memref<{'?x' * rank}{element}, strided<[{'?, ' * (rank - 1)}1]>>",
        rows=ROWS, cols=cols, element=element, swizzle=swizzle, outer=outer,
        bytes=ROWS * cols * size,
        layout=f"register {columns}; lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row {ROWS}, col {cols}",
        chunk=16 // size, out=f"{out} %c[{outer}%c1, %c0]",
    )  # fmt: skip


def run(
    program: str, a: Any, c: Any, element: str, swizzle: str, ptxases: list[Any]
) -> tuple[Any, Any]:
    """What was read, and the box as numpy has it: zeros outside."""
    compiled = tilec.compile(program)
    for ptxas in ptxases:
        status, report = ptxas.run(compiled.ptx, "sm_90")
        assert status == 0, report
    size = np.dtype(DTYPES[element]).itemsize
    cols, first = LINES[swizzle] // size, 16 // size
    read = np.full((ROWS, cols), 1, DTYPES[element]).view(c.dtype)
    compiled.launch(a, c, read, grid=1, device="sim")
    box = np.zeros((ROWS, cols), c.dtype)
    part = a[(1,) * (a.ndim - 2)][3 : 3 + ROWS, first : first + cols]
    box[: part.shape[0], : part.shape[1]] = part
    return read, box


def numbers(element: str, shape: tuple[int, ...], seed: int) -> Any:
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(DTYPES[element])


CASES = [
    pytest.param(*case, marks=() if number % 5 == 0 else pytest.mark.slow)
    for number, case in enumerate(product(("i8", "f16", "f32", "f64"), (2, 3, 4, 5), LINES))
]


@pytest.mark.parametrize(("element", "rank", "swizzle"), CASES)
def test_in_and_out(
    element: str, rank: int, swizzle: str, assemblers_for: Callable[..., list[Any]]
) -> None:
    """Ragged arrays: rows and columns of the box lie outside, of what is loaded and what stored."""
    size = np.dtype(DTYPES[element]).itemsize
    cols = LINES[swizzle] // size
    chunk = 16 // size
    shape = (*(2 + n for n in range(rank - 2)), 30, cols)
    a, c = numbers(element, shape, 1), numbers(element, (*shape[:-2], 20, cols + chunk), 2)
    wanted = c.copy()
    ptxases = assemblers_for(target("sm_90"))
    read, box = run(text(element, rank, swizzle), a, c, element, swizzle, ptxases)
    np.testing.assert_array_equal(read, box)
    wanted[(1,) * (rank - 2)][1:, :cols] = box[:19]
    np.testing.assert_array_equal(c, wanted)


def _inc(old: Any, new: Any) -> Any:
    return np.where(old >= new, 0, old + 1)


def _dec(old: Any, new: Any) -> Any:
    return np.where((old == 0) | (old > new), new, old - 1)


REDUCTIONS: list[tuple[str, Callable[..., Any], str, Any]] = [
    *(("add", np.add, e, DTYPES[e]) for e in ("i32", "f32", "f16", "bf16", "f64")),
    *(("add", np.add, e, t) for e, t in (("i32", np.uint32), ("i64", np.uint64))),
    *(
        (name, function, element, sort)
        for name, function in (("min", np.minimum), ("max", np.maximum))
        for element, sort in (
            ("i32", np.int32), ("i32", np.uint32), ("i64", np.int64), ("i64", np.uint64),
            ("f16", np.float16), ("bf16", ml_dtypes.bfloat16),
        )
    ),
    ("inc", _inc, "i32", np.uint32),
    ("dec", _dec, "i32", np.uint32),
    *(
        (name, function, element, sort)
        for name, function in (
            ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)
        )
        for element, sort in (("i32", np.uint32), ("i64", np.uint64))
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(n, marks=() if n % 3 == 0 else pytest.mark.slow, id=f"{name}-{n}")
        for n, (name, *_) in enumerate(REDUCTIONS)
    ],
)
def test_reductions(number: int, assemblers_for: Callable[..., list[Any]]) -> None:
    name, function, element, sort = REDUCTIONS[number]
    swizzle = [*LINES][number % 4]
    cols = LINES[swizzle] // np.dtype(sort).itemsize
    a, c = (numbers(element, (34, 2 * cols), seed).astype(sort) for seed in (1, 2))
    if np.dtype(sort).kind == "u":  # where the sign would matter
        a, c = (np.random.default_rng(n).integers(0, 1 << 32, x.shape).astype(sort) | (x & 1)
                for n, x in enumerate((a, c)))  # fmt: skip
    old = c.copy()
    program = text(element, 2, swizzle, f"tile.tma_reduce {name}")
    _, box = run(program, a, c, element, swizzle, assemblers_for(target("sm_90")))
    wanted = old.copy()
    with np.errstate(over="ignore"):
        wanted[1 : 1 + ROWS, :cols] = function(old[1 : 1 + ROWS, :cols], box)
    np.testing.assert_array_equal(c, wanted)
