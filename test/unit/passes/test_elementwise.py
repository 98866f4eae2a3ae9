"""Every op that `tile.elementwise` applies, and `tile.select`, do what numpy does.

What has exact semantics is compared bit by bit; approximations within a bound.
"""

from __future__ import annotations

import math
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


def _rounded(function):
    """Of ops of one operand that numpy has not for the narrow floats."""
    return lambda x: function(x.astype(np.float64)).astype(x.dtype)


def _toward_zero(x, y):
    return (
        np.sign(x.astype(int)) * np.sign(y.astype(int)) * (abs(x.astype(int)) // abs(y.astype(int)))
    ).astype(x.dtype)


def _rest(x, y):
    return (x.astype(int) - _toward_zero(x, y).astype(int) * y.astype(int)).astype(x.dtype)


def _bits(count):
    """Of ops that count in the text of each number's bits."""

    def apply(x):
        width = 8 * x.dtype.itemsize
        texts = (np.binary_repr(v, width) for v in x.flat)
        return np.array([count(t) for t in texts], x.dtype).reshape(x.shape)

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
    "arith.divsi": _toward_zero,
    "arith.remsi": _rest,
    "arith.floordivsi": np.floor_divide,
    "arith.ceildivsi": lambda x, y: (-(-x.astype(int) // y.astype(int))).astype(x.dtype),
    "arith.divui": _unsigned(np.floor_divide),
    "arith.remui": _unsigned(np.remainder),
    "arith.ceildivui": _unsigned(lambda x, y: x // y + (x % y != 0).astype(x.dtype)),
    "math.absf": np.abs,
    "math.absi": np.abs,
    "math.exp2": _wide(np.exp2),
    "math.fma": _fma,
    "math.ceil": _rounded(np.ceil),
    "math.floor": _rounded(np.floor),
    "math.trunc": _rounded(np.trunc),
    "math.roundeven": _rounded(np.rint),
    "math.round": _rounded(lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "math.copysign": np.copysign,
    "math.ctpop": _bits(lambda text: text.count("1")),
    "math.ctlz": _bits(lambda text: len(text) - len(text.lstrip("0"))),
    "math.cttz": _bits(lambda text: len(text) - len(text.rstrip("0"))),
    "math.exp": _wide(np.exp),
    "math.expm1": _wide(np.expm1),
    "math.log": _wide(np.log),
    "math.log1p": _wide(np.log1p),
    "math.log2": _wide(np.log2),
    "math.log10": _wide(np.log10),
    "math.sin": _wide(np.sin),
    "math.cos": _wide(np.cos),
    "math.tanh": _wide(np.tanh),
    "math.erf": _wide(np.vectorize(math.erf)),
    "math.powf": _wide(np.power),
    "math.rsqrt": _wide(lambda x: 1 / np.sqrt(x)),
    "math.sqrt": _wide(np.sqrt),
}
POSITIVE = (
    "math.rsqrt",
    "math.sqrt",
    "math.log",
    "math.log2",
    "math.log10",
    "math.powf",
    "math.log1p",
)
BY_PERMISSION = ("math.sin", "math.cos", "math.powf")
NOT_F64 = (
    *(
        "math.exp",
        "math.exp2",
        "math.expm1",
        "math.log1p",
        "math.log",
        "math.log2",
        "math.log10",
        "math.tanh",
        "math.erf",
    ),
    *BY_PERMISSION,
)
APPROXIMATE = (*NOT_F64, "math.rsqrt")
DIVISIONS = tuple(name for name in ELEMENTWISE if "div" in name or "rem" in name)
ON_INTEGERS = ("math.absi", "math.ctlz", "math.ctpop", "math.cttz")


def _takes(name: str, element: str) -> bool:
    wants_float = name.endswith("f") or (name.startswith("math.") and name not in ON_INTEGERS)
    return wants_float == ("f" in element) and not (name in NOT_F64 and element == "f64")


def _kernel(number: int, name: str, element: str) -> str:
    memory, tile = f"memref<16x8x{element}>", TILE.format(element)
    count = ELEMENTWISE[name]
    flags = ", fastmath = #arith.fastmath<afn>" if name in BY_PERMISSION else ""
    loads = "".join(
        f'    %{v} = "tile.load"(%m{v}, %z, %z) : ({memory}, index, index) -> {tile}\n'
        for v in "abc"[:count]
    )
    operands = ", ".join(f"%{v}" for v in "abc"[:count])
    return f"""
  gpu.func @k{number}(%ma: {memory}, %mb: {memory}, %mc: {memory}, %md: {memory})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
{loads}    %d = "tile.elementwise"({operands}) {{fn = "{name}"{flags}}}
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
    if name in DIVISIONS:
        # No quotient is beyond the type.
        values[1] = np.where(np.isin(values[1], [0, -1]), 3, values[1]).astype(dtype)
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
        with np.errstate(over="ignore"):
            wanted = REFERENCE[name](*values[: ELEMENTWISE[name]])
        if name in APPROXIMATE:
            unit = ml_dtypes.finfo(got.dtype).eps
            slack = (16 * unit, 2.0**-20) if name in BY_PERMISSION else (4 * unit, 0)
            near = dict(zip(("rtol", "atol"), slack, strict=True))
            np.testing.assert_allclose(got.astype(float), wanted.astype(float), **near)
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=name)


def test_every_op_has_a_reference() -> None:
    assert REFERENCE.keys() == ELEMENTWISE.keys()


COMPARISON = """
!T = {tile}
!M = {mask}
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: {memory}, %b: {memory}, %d: {memory}, %one: i1, %times: index)
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = "tile.load"(%a, %z, %z) : ({memory}, index, index) -> !T
    %y = "tile.load"(%b, %z, %z) : ({memory}, index, index) -> !T
    %m = arith.{comparison} {predicate}, %x, %y : !T
    %all = arith.constant dense<true> : !M
    %turned = scf.for %i = %z to %times step %c1 iter_args(%held = %m) -> (!M) {{
      %next = arith.xori %held, %all : !M
      scf.yield %next : !M
    }}
    %s = arith.select %turned, %x, %y : !M, !T
    %r = arith.select %one, %s, %x : !T
    "tile.store"(%r, %d, %z, %z) : (!T, {memory}, index, index) -> ()
    gpu.return
  }}
}}
"""
PREDICATES = {
    ("cmpi", "eq"): np.equal,
    ("cmpi", "slt"): np.less,
    ("cmpi", "ugt"): lambda x, y: x.view(f"u{x.itemsize}") > y.view(f"u{y.itemsize}"),
    ("cmpf", "olt"): np.less,
    ("cmpf", "une"): np.not_equal,
    ("cmpf", "uge"): lambda x, y: ~(x < y),
    ("cmpf", "uno"): lambda x, y: np.isnan(x) | np.isnan(y),
}


@pytest.mark.parametrize("element", DTYPES)
def test_comparisons_choose(element: str) -> None:
    """A mask, as it is and through a loop, chooses as numpy's does; so does one condition."""
    layout = (
        '#tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">'
    )
    dtype = np.dtype(DTYPES[element])
    x, y = _inputs("arith.addf", element)[:2]
    y[::2] = x[::2]
    if "f" in element:
        x[0, :4] = math.nan
    for (comparison, predicate), compare in PREDICATES.items():
        if comparison.endswith("f") != ("f" in element):
            continue
        compiled = tilec.compile(
            COMPARISON.format(
                tile=f"tensor<16x8x{element}, {layout}>",
                mask=f"tensor<16x8xi1, {layout}>",
                memory=f"memref<16x8x{element}>",
                comparison=comparison,
                predicate=predicate,
            )
        )
        for one, times in ((1, 0), (1, 3), (0, 0)):
            got = np.zeros(SHAPE, dtype)
            report = launch(compiled.ptx, "k", 1, 32, [x, y, got, one, times])
            assert not report.findings
            with np.errstate(invalid="ignore"):
                mask = compare(x, y) ^ (times % 2 == 1)
            wanted = np.where(mask, x, y) if one else x
            assert got.tobytes() == wanted.tobytes(), (predicate, one, times)


def test_nibbles() -> None:
    """Arithmetic on integers of four bits wraps, and comparisons know their sign."""
    tile = '!tile.frag<tensor<16x64x{0}>, #tile.layout<"m16n8k64 a s4">>'
    memory = "memref<16x32xi8>"
    text = f"""
!N = {tile.format("i4")}
!M = {tile.format("i1")}
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: {memory}, %b: {memory}, %d: {memory})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %x = "tile.load"(%a, %z, %z) : ({memory}, index, index) -> !N
    %y = "tile.load"(%b, %z, %z) : ({memory}, index, index) -> !N
    %s = "tile.elementwise"(%x, %y) {{fn = "arith.addi"}} : (!N, !N) -> !N
    %m = "tile.elementwise"(%x, %y) {{fn = "arith.cmpi", predicate = 2 : i64}} : (!N, !N) -> !M
    %r = "tile.select"(%m, %s, %x) : (!M, !N, !N) -> !N
    "tile.store"(%r, %d, %z, %z) : (!N, {memory}, index, index) -> ()
    gpu.return
  }}
}}
"""
    random = np.random.default_rng(2)
    x, y = random.integers(-8, 8, (2, 16, 64))
    packed = [((v[:, 1::2] & 15) << 4 | (v[:, ::2] & 15)).astype(np.uint8) for v in (x, y)]
    got = np.zeros_like(packed[0])
    launch(tilec.compile(text).ptx, "k", 1, 32, [*packed, got])
    wanted = np.where(x < y, x + y, x) & 15
    np.testing.assert_array_equal(got, wanted[:, 1::2] << 4 | wanted[:, ::2])
