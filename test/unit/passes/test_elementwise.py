"""Every op that `tile.elementwise` applies does what numpy does, element by element.

What has exact semantics is compared bit by bit; approximations within a bound.
"""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.dialects.tile.ops import ELEMENTWISE
from tilec.sim import launch

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
}
SHAPE = (16, 8)
TILE = '!tile.frag<tensor<16x8x{0}>, #tile.layout<"m16n8k16 c f32">>'


def _unsigned(function):
    def apply(*values):
        narrow = [v.view(f"u{v.dtype.itemsize}") for v in values]
        return function(*narrow).view(values[0].dtype)

    return apply


def _wide(function):
    """In f32, then rounded once more, which for these ops rounds correctly."""

    def apply(*values):
        up = [v.astype(np.float64 if v.dtype == np.float64 else np.float32) for v in values]
        return function(*up).astype(values[0].dtype)

    return apply


def _fma(x, y, z):
    exact = [
        float(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))
        for a, b, c in zip(x.flat, y.flat, z.flat, strict=True)
    ]
    return np.array(exact).reshape(x.shape).astype(x.dtype)


REFERENCE = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": _wide(np.divide),
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.negf": np.negative,
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.shrui": _unsigned(np.right_shift),
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": _unsigned(np.maximum),
    "arith.minui": _unsigned(np.minimum),
    "math.absf": np.abs,
    "math.absi": np.abs,
    "math.exp2": _wide(np.exp2),
    "math.fma": _fma,
    "math.rsqrt": _wide(lambda x: 1 / np.sqrt(x)),
    "math.sqrt": _wide(np.sqrt),
}
POSITIVE = ("math.rsqrt", "math.sqrt")
APPROXIMATE = ("math.exp2", "math.rsqrt")


def _takes(name: str, element: str) -> bool:
    wants_float = name.endswith("f") or (name.startswith("math.") and name != "math.absi")
    return wants_float == ("f" in element) and (name, element) != ("math.exp2", "f64")


def _kernel(number: int, name: str, element: str) -> str:
    memory, tile = f"memref<16x8x{element}>", TILE.format(element)
    count = ELEMENTWISE[name]
    loads = "".join(
        f'    %{v} = "tile.load"(%m{v}, %z, %z) : ({memory}, index, index) -> {tile}\n'
        for v in "abc"[:count]
    )
    operands = ", ".join(f"%{v}" for v in "abc"[:count])
    return f"""
  gpu.func @k{number}(%ma: {memory}, %mb: {memory}, %mc: {memory}, %md: {memory})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
{loads}    %d = "tile.elementwise"({operands}) {{fn = "{name}"}}
        : ({", ".join([tile] * count)}) -> {tile}
    "tile.store"(%d, %md, %z, %z) : ({tile}, {memory}, index, index) -> ()
    gpu.return
  }}"""


def _inputs(name: str, element: str) -> list[np.ndarray]:
    random = np.random.default_rng(len(name))
    dtype = np.dtype(DTYPES[element])
    if "f" in element:
        values = [random.normal(scale=4, size=SHAPE).astype(dtype) for _ in range(3)]
        return [np.abs(v) for v in values] if name in POSITIVE else values
    info = np.iinfo(dtype)
    values = [random.integers(info.min, info.max, SHAPE, dtype, endpoint=True) for _ in range(3)]
    if "sh" in name:
        values[1] = random.integers(0, info.bits, SHAPE, dtype)
    return values


@pytest.mark.parametrize("element", DTYPES)
def test_elementwise(element: str) -> None:
    names = [name for name in ELEMENTWISE if _takes(name, element)]
    assert len(names) > 8
    kernels = "".join(_kernel(number, name, element) for number, name in enumerate(names))
    text = f'gpu.module @m [#nvvm.target<chip = "sm_90">] {{{kernels}\n}}\n'
    compiled = tilec.compile(text)
    for number, name in enumerate(names):
        values = _inputs(name, element)
        got = np.zeros(SHAPE, DTYPES[element])
        report = launch(compiled.ptx, f"k{number}", 1, 32, [*values, got])
        assert not report.findings, name
        wanted = REFERENCE[name](*values[: ELEMENTWISE[name]])
        if name in APPROXIMATE:
            unit = ml_dtypes.finfo(got.dtype).eps
            np.testing.assert_allclose(got.astype(float), wanted.astype(float), rtol=2 * unit)
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=name)


def test_every_op_has_a_reference() -> None:
    assert REFERENCE.keys() == ELEMENTWISE.keys()
