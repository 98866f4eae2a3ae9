"""Products of matrices written in linalg, compiled as they are, agree with `numpy.einsum`.

Over element types, transposes, batches and ragged extents. What is launched is what the
kernel's block size and the extents say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import ceil, prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tilec.passes.from_linalg import FromLinalg

Array = NDArray[Any]
DYNAMIC = "?"
KERNELS = Path(__file__).parents[3] / "examples" / "kernels"

NUMPY = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "i32": np.int32,
}


def matrix(random: np.random.Generator, shape: tuple[int, ...], element: str) -> Array:
    """Numbers that every type holds exactly and of which few thousand products sum up exactly."""
    return random.integers(-4, 5, shape).astype(NUMPY[element])


def program(
    loops: str,
    indices: tuple[str, str, str],
    elements: tuple[str, str, str],
    known: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """A function with one `linalg.contract`, on memrefs that are dynamic but for known extents."""
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(of)})>" for of in indices)
    a, b, c = (
        f"memref<{''.join(f'{known.get(loop, DYNAMIC)}x' for loop in of)}{element}>"
        for of, element in zip(indices, elements, strict=True)
    )
    return f"""
    func.func @product(%a: {a}, %b: {b}, %c: {c}) {{
      linalg.contract indexing_maps = [{maps}] ins(%a, %b : {a}, {b}) outs(%c : {c})
      return
    }}"""


def launch_grid(shape: tuple[int, ...], tile: int = 128) -> tuple[int, int, int]:
    *batch, rows, cols = shape
    return max(1, ceil(cols / tile)), max(1, ceil(rows / tile)), prod(batch)


@pytest.mark.parametrize(
    "indices",
    [
        ("mk", "kn", "mn"),
        ("km", "kn", "mn"),
        ("mk", "nk", "mn"),
        ("km", "nk", "nm"),
        ("imk", "kn", "imn"),
        ("imk", "ijkn", "ijmn"),
        ("ikn", "jmk", "jimn"),
    ],
)
def test_every_order_of_dimensions(
    run: Any, random: np.random.Generator, indices: tuple[str, str, str]
) -> None:
    loops = "".join(sorted({*"".join(indices)}))
    text = program(loops, indices, ("f16", "f16", "f32"))
    for m, n, k in ((70, 131, 65), (1, 3, 0)):
        extents = {"m": m, "n": n, "k": k, "i": 2, "j": 3}
        a, b, c = (
            matrix(random, tuple(extents[loop] for loop in of), element)
            for of, element in zip(indices, ("f16", "f16", "f32"), strict=True)
        )
        into = f"{indices[0]},{indices[1]}->{indices[2]}"
        expected = c + np.einsum(into, a.astype(np.float64), b.astype(np.float64))
        run(text, [a, b, c], grid=launch_grid(c.shape))
        np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize(
    ("elements", "target"),
    [
        (("f16", "f16", "f16"), "sm_75"),
        (("bf16", "bf16", "f32"), "sm_80"),
        (("bf16", "bf16", "bf16"), "sm_90"),
        (("f64", "f64", "f64"), "sm_80"),
        (("i8", "i8", "i32"), "sm_75"),
        (("f8E4M3FN", "f8E5M2", "f32"), "sm_89"),
        (("f8E5M2", "f8E5M2", "f16"), "sm_120"),
    ],
)
def test_every_element_type(
    run: Any, random: np.random.Generator, elements: tuple[str, str, str], target: str
) -> None:
    """One product of each: small enough that no sum is rounded, but in bf16 at the end."""
    text = program("mnk", ("mk", "nk", "mn"), elements)
    a, b, c = (
        matrix(random, shape, element)
        for shape, element in zip(((70, 50), (67, 50), (70, 67)), elements, strict=True)
    )
    expected = (c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64).T).astype(
        NUMPY[elements[2]]
    )
    tile = 64 if elements[0] == "f64" else 128
    run(text, [a, b, c], grid=launch_grid(c.shape, tile), target=target)
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("unsigned", [(False, False), (True, True), (True, False), (False, True)])
def test_integers_with_and_without_sign(
    run: Any, random: np.random.Generator, unsigned: tuple[bool, bool]
) -> None:
    """A `linalg.generic` whose result is the other way round, of bytes of any value."""
    names = ["arith.extui" if one else "arith.extsi" for one in unsigned]
    text = f"""
    func.func @generic(%a: memref<20x40xi8>, %b: memref<40x36xi8>, %c: memref<36x20xi32>) {{
      %start = arith.constant -7 : i32
      linalg.fill ins(%start : i32) outs(%c : memref<36x20xi32>)
      linalg.generic {{
          indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                           affine_map<(m, n, k) -> (n, m)>],
          iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%a, %b : memref<20x40xi8>, memref<40x36xi8>) outs(%c : memref<36x20xi32>) {{
      ^bb0(%x: i8, %y: i8, %sum: i32):
        %x32 = {names[0]} %x : i8 to i32
        %y32 = {names[1]} %y : i8 to i32
        %product = arith.muli %x32, %y32 : i32
        %next = arith.addi %product, %sum : i32
        linalg.yield %next : i32
      }}
      return
    }}"""
    a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in ((20, 40), (40, 36)))
    c = np.full((36, 20), 1 << 20, np.int32)
    left, right = (
        (matrix.view(np.uint8) if one else matrix).astype(np.int64)
        for one, matrix in zip(unsigned, (a, b), strict=True)
    )
    run(text, [a, b, c])
    np.testing.assert_array_equal(c, (left @ right).T - 7)


def test_f32_as_tf32(run: Any, random: np.random.Generator) -> None:
    """The operands' upper 19 bits are multiplied."""
    text = """
    gpu.module @m {
      gpu.func @tf32(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>, %start: f32)
          kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        linalg.fill ins(%start : f32) outs(%c : memref<?x?xf32>)
        linalg.matmul {tile.tf32} ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>)
            outs(%c : memref<?x?xf32>)
        gpu.return
      }
    }"""
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((33, 50), (50, 30)))
    c = np.full((33, 30), np.nan, np.float32)
    upper = [(m.view(np.uint32) & 0xFFFFE000).view(np.float32).astype(np.float64) for m in (a, b)]
    run(text, [a, b, c, np.float32(0.5)])
    np.testing.assert_allclose(c, upper[0] @ upper[1] + 0.5, rtol=0, atol=1e-5)


def test_views_of_memory(run: Any, random: np.random.Generator) -> None:
    """A part of A that begins and ends where arguments say, and B seen as its transpose."""
    text = """
    func.func @views(%a: memref<?x?xf16>, %b: memref<48x40xf16>, %c: memref<?x?xf32>, %i: index,
                     %n: index) {
      %from = affine.apply affine_map<(i) -> (i * 2 + 1)>(%i)
      %part = memref.subview %a[%from, 0] [%n, 40] [1, 1]
          : memref<?x?xf16> to memref<?x40xf16, strided<[?, 1], offset: ?>>
      %turned = memref.reinterpret_cast %b to offset: [0], sizes: [40, 48], strides: [1, 40]
          : memref<48x40xf16> to memref<40x48xf16, strided<[1, 40]>>
      linalg.matmul ins(%part, %turned
                        : memref<?x40xf16, strided<[?, 1], offset: ?>>,
                          memref<40x48xf16, strided<[1, 40]>>)
          outs(%c : memref<?x?xf32>)
      return
    }"""
    a, b = matrix(random, (60, 50), "f16"), matrix(random, (48, 40), "f16")
    c = matrix(random, (31, 48), "f32")
    expected = c + a[7:38, :40].astype(np.float64) @ b.astype(np.float64).T
    run(text, [a, b, c, np.int64(3), np.int64(31)])
    np.testing.assert_array_equal(c, expected)


@st.composite
def products(draw: st.DrawFn) -> tuple[tuple[str, str, str], dict[str, int], set[str]]:
    """Indices of A, B and C, perhaps of a batch; extents by loop; those that types say."""
    batch = draw(st.sampled_from(["", "h"]))
    a, b, c = ("".join(draw(st.permutations(loops))) for loops in ("mk", "kn", "mn"))
    extents = {loop: draw(st.integers(0, 40)) for loop in "mnk"} | {"h": draw(st.integers(1, 3))}
    known = {loop for loop in extents if draw(st.booleans())}
    shared = draw(st.booleans())
    return (batch + a, b if shared else batch + b, batch + c), extents, known


@settings(max_examples=12)
@given(
    product=products(),
    tiles=st.tuples(*[st.sampled_from((16, 32, 64))] * 3),
    warps=st.sampled_from((1, 2, 4)),
)
def test_random_products(
    product: tuple[tuple[str, str, str], dict[str, int], set[str]],
    tiles: tuple[int, int, int],
    warps: int,
) -> None:
    """Any extents, known or not, in any order, on tiles of any size."""
    indices, extents, known = product
    elements = ("f16", "f16", "f32")
    loops = "".join(sorted({*"".join(indices)}))
    text = program(loops, indices, elements, {loop: extents[loop] for loop in known})
    a, b, c = (
        matrix(np.random.default_rng(0), tuple(extents[loop] for loop in of), element)
        for of, element in zip(indices, elements, strict=True)
    )
    into = f"{indices[0]},{indices[1]}->{indices[2]}"
    expected = c + np.einsum(into, a.astype(np.float64), b.astype(np.float64))
    converted = tilec.transform(text, FromLinalg(*tiles, warps)).module
    tilec.compile(converted).launch(a, b, c, device="sim")
    np.testing.assert_array_equal(c, expected)


def test_as_good_as_tiles_by_hand() -> None:
    """The same instructions as the kernel that says its tiles."""
    instruction = re.compile(r"^\s+(?:@\S+ )?([a-z][\w.:]+)", re.MULTILINE)
    ours, by_hand = (
        Counter(instruction.findall(tilec.compile(KERNELS / f"{name}.mlir").ptx))
        for name in ("linalg_gemm", "gemm")
    )
    assert ours == by_hand
    assert ours["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"] == 64
