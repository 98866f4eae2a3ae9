"""`tile.cast` between every two element types, bit for bit, against ml_dtypes.

Each conversion runs on the simulator on all bit patterns of its source (of f32: numbers of all
kinds, and the neighbourhood of every number and midpoint of the result's type), once by sequences
of ordinary instructions and once by the target's `cvt`, which the PTX must then hold. Were a
rounding, a limit, a NaN or the place of an element wrong, the results would differ. In CI an eighth
of the patterns is tried of types of 16 and more bits, all with `-m slow`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.isa.conversions import CONVERSIONS
from tilec.sim import launch
from tilec.sim.ptx import Module, read

Array = np.ndarray[Any, Any]


class Kind(NamedTuple):
    """An element type: in MLIR, in memory, its width, and its numbers in numpy."""

    mlir: str
    memory: str
    width: int
    numpy: Any
    shift: int = 0


def kind(name: str, width: int, numpy: Any, *, byte: bool = False) -> Kind:
    memory = name if width > 8 else "i8"
    shift = 2 if byte and width == 4 else 0
    return Kind(f"!tile.byte<{name}>" if byte else name, memory, width, numpy, shift)


F4, F6E3, F6E2 = ml_dtypes.float4_e2m1fn, ml_dtypes.float6_e3m2fn, ml_dtypes.float6_e2m3fn
NARROW = {
    "e4m3": kind("f8E4M3FN", 8, ml_dtypes.float8_e4m3fn),
    "e5m2": kind("f8E5M2", 8, ml_dtypes.float8_e5m2),
    "e3m2": kind("f6E3M2FN", 6, F6E3, byte=True),
    "e2m3": kind("f6E2M3FN", 6, F6E2, byte=True),
    "e2m1": kind("f4E2M1FN", 4, F4, byte=True),
    "packed e2m1": kind("f4E2M1FN", 4, F4),
}
WIDE = {
    "f32": kind("f32", 32, np.float32),
    "tf32": Kind("tf32", "f32", 19, np.float32),
    "f16": kind("f16", 16, np.float16),
    "bf16": kind("bf16", 16, ml_dtypes.bfloat16),
}
FLOATS = WIDE | NARROW
INTEGERS = {
    "i1": Kind("i1", "i8", 1, np.uint8),
    "i4": kind("i4", 4, ml_dtypes.int4),
    "i8": kind("i8", 8, np.int8),
    "i32": kind("i32", 32, np.int32),
}
PAIRS = list(itertools.permutations(FLOATS, 2))

TARGETS = ("sm_75", "sm_90a", "sm_100a")
"""No `cvt` of narrow floats; those of 8 bits; all."""

KERNEL = """
  gpu.func @{name}(%p: memref<?x{in_cols}x{in_memory}>, %q: memref<?x{out_cols}x{out_memory}>)
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %cta = gpu.block_id x
    %row = arith.muli %cta, %c8 : index
    %s = "tile.load"(%p, %row, %c0) : (memref<?x{in_cols}x{in_memory}>, index, index)
      -> !tile.frag<tensor<8x32x{source}>, #L>
    %r = "tile.cast"(%s) {{fn = "{fn}"}}
      : (!tile.frag<tensor<8x32x{source}>, #L>) -> !tile.frag<tensor<8x32x{result}>, #L>
    "tile.store"(%r, %q, %row, %c0)
      : (!tile.frag<tensor<8x32x{result}>, #L>, memref<?x{out_cols}x{out_memory}>, index, index)
      -> ()
    gpu.return
  }}
"""
LAYOUT = "register [0,1] [0,2] [0,4]; lane [0,8] [0,16] [1,0] [2,0] [4,0] -> row 8, col 32"
MODULE = """
#L = #tile.layout<"{layout}">
gpu.module @m {{
{kernels}
}}
"""


def identifier(source: str, result: str, fn: str) -> str:
    return f"{source}_{result}_{fn.removeprefix('arith.')}".replace(" ", "_")


def together(of: Kind) -> int:
    """Elements in a byte of memory; 1 for those that have a byte or more."""
    return 8 // of.width if of.width in (1, 4) and "byte" not in of.mlir else 1


def kernel(source: str, result: str, fn: str) -> str:
    a, b = (FLOATS | INTEGERS)[source], (FLOATS | INTEGERS)[result]
    return KERNEL.format(
        name=identifier(source, result, fn),
        source=a.mlir,
        result=b.mlir,
        in_memory=a.memory,
        out_memory=b.memory,
        in_cols=32 // together(a),
        out_cols=32 // together(b),
        fn=fn,
    )


def function(source: str, result: str) -> str:
    """The upstream cast of floats."""
    a, b = FLOATS[source].width, FLOATS[result].width
    return f"arith.{'truncf' if a > b else 'extf' if a < b else 'convertf'}"


TO_FLOAT = [
    (source, result, f"arith.{sign}itofp")
    for source in ("i1", "i4", "i8")
    for result in ("f16", "bf16", "f32")
    for sign in "su"
]
TO_INTEGER = [
    (source, result, f"arith.fpto{sign}i")
    for source in ("f16", "bf16", "f32")
    for result in ("i4", "i8")
    for sign in "su"
]
INTEGER_WIDTHS = [
    (narrow, wide, f"arith.ext{sign}i")
    for narrow, wide in itertools.combinations(INTEGERS, 2)
    for sign in "su"
] + [(wide, narrow, "arith.trunci") for narrow, wide in itertools.combinations(INTEGERS, 2)]


@cache
def compiled(target: str) -> tuple[str, Module]:
    """All kernels, for a target."""
    casts = [(a, b, function(a, b)) for a, b in PAIRS]
    kernels = [kernel(*cast) for cast in (*casts, *TO_FLOAT, *TO_INTEGER, *INTEGER_WIDTHS)]
    ptx = tilec.compile(MODULE.format(layout=LAYOUT, kernels="".join(kernels)), target=target).ptx
    return ptx, read(ptx)


def run(target: str, source: str, result: str, fn: str, codes: Array) -> Array:
    """The codes of the results: one an element, as the type's own bits."""
    a, b = (FLOATS | INTEGERS)[source], (FLOATS | INTEGERS)[result]
    parts = np.reshape(codes << a.shift, (-1, together(a)))
    sent = np.zeros(len(parts), codes.dtype)
    for at in range(together(a)):
        sent |= parts[:, at] << (at * a.width)
    size = 1 if b.memory == "i8" else np.dtype(b.numpy).itemsize
    got = np.zeros(len(codes) // together(b), f"u{size}")
    rows, ctas = len(codes) // 32, len(codes) // 256
    _, module = compiled(target)
    name = identifier(source, result, fn)
    report = launch(module, name, ctas, 32, [sent, rows, got, rows], arch=target)
    assert not report.findings
    if together(b) > 1:
        mask = (1 << b.width) - 1
        got = np.stack([got >> (at * b.width) & mask for at in range(together(b))], -1).reshape(-1)
    assert not (got & ((1 << b.shift) - 1)).any()
    return got >> b.shift


def values_of(codes: Array, of: Kind) -> Array:
    """The numbers, as f32, which holds those of every type."""
    if of.mlir == "tf32":
        codes = codes & np.uint32(0xFFFFE000)
    return codes.view(of.numpy).astype(np.float32)


def limits(of: Kind) -> float:
    return float(ml_dtypes.finfo(of.numpy).max)


def tf32(values: Array) -> Array:
    """Rounded to 11 bits of significand, ties away from zero, by arithmetic in f64."""
    wide = values.astype(np.float64)
    finite = np.where(np.isfinite(wide), wide, 0)
    exponent = np.maximum(np.frexp(finite)[1] - 1, -126)
    unit = np.ldexp(1.0, exponent - 10)
    rounded = np.copysign(np.floor(np.abs(finite) / unit + 0.5) * unit, wide)
    with np.errstate(over="ignore"):
        return np.where(np.isfinite(wide), rounded, wide).astype(np.float32)


@np.errstate(all="ignore")
def expected(values: Array, of: Kind) -> Array:
    """The codes of f32 values."""
    if of.mlir == "tf32":
        return tf32(values).view(np.uint32)
    if of.width > 8:
        return values.astype(of.numpy).view(f"u{of.width // 8}")
    most = limits(of)
    codes = np.clip(values, -most, most).astype(of.numpy).view(np.uint8)
    nan = 0x7F if of.width == 8 else np.asarray(most, of.numpy).view(np.uint8)
    return np.where(np.isnan(values), nan, codes).astype(np.uint8)


def neighbourhood(of: Kind) -> Array:
    """f32 values around every number of a narrow type, and around the midpoints of two."""
    if of.mlir == "tf32":  # midpoints alone, of every exponent
        values = (np.arange(1 << 16, dtype=np.uint32) << 16 | 0x1000).view(np.float32)
    else:
        bits = min(of.width, 16)
        values = np.unique(values_of(np.arange(1 << bits, dtype="u1" if bits <= 8 else "u2"), of))
    values = values[np.isfinite(values)].astype(np.float64)
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2, values * 1.5])
    with np.errstate(over="ignore"):
        points = points.astype(np.float32)
    return np.concatenate(
        [np.nextafter(points, t, dtype="f4") for t in (-np.inf, np.inf)] + [points]
    )


EDGES = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "tf32": 0x7F800000}
"""Infinity: one less is the largest number, one more a NaN."""


@cache
def patterns(source: str, result: str, part: int = 1) -> Array:
    """Codes of the source, a multiple of 256 of them: all, or one in `part` and the edges."""
    of = (FLOATS | INTEGERS)[source]
    if of.memory == "i8":
        pair = np.arange(256, dtype=np.uint8)
        if of.width == 4:  # every pair of neighbours, so that none is taken for the other
            return np.stack([pair & 0xF, pair >> 4], axis=-1).reshape(-1)
        return np.resize(np.arange(1 << of.width, dtype=np.uint8), 256)
    if of.mlir == "i32":
        return np.random.default_rng(1).integers(0, 1 << 32, 1024, np.uint32)
    rng = np.random.default_rng([part, *source.encode(), *result.encode()])
    sign, infinity = 1 << (31 if of.memory == "f32" else 15), EDGES[source]
    least = infinity & -infinity  # the smallest normal number
    special = [0, 1, least - 1, least, infinity - 1, infinity, infinity + 1, sign - 1]
    special = np.array([*special, *(code | sign for code in special)])
    if of.memory != "f32":
        if part == 1:
            return np.arange(1 << 16, dtype=np.uint16)
        drawn = rng.integers(0, 1 << 16, (1 << 16) // part - len(special))
        return np.concatenate([special, drawn]).astype(np.uint16)
    near, count = neighbourhood(FLOATS[result]), 8192 // part
    if len(near) > 20000 // part:
        near = rng.choice(near, 20000 // part)
    # and with exponents that the narrow types have
    small = rng.integers(0, 1 << 23, count) | rng.integers(100, 150, count) << 23
    bits = [near.view("u4"), special, rng.integers(0, 1 << 32, count), small, small | sign]
    found = np.concatenate([b.astype("u4") for b in bits])
    return np.resize(found, -(-len(found) // 256) * 256)


def check(got: Array, wanted: Array, of: Kind, codes: Array) -> None:
    """Equal bits; in types of more than 8 bits one NaN is as good as another."""
    same = got == wanted
    if of in WIDE.values():
        same |= np.isnan(values_of(got, of)) & np.isnan(values_of(wanted, of))
    wrong = np.flatnonzero(~same)[:5]
    shown = [f"{codes[at]:#x}: {got[at]:#x}, not {wanted[at]:#x}" for at in wrong]
    assert not shown, f"{np.count_nonzero(~same)} wrong: {'; '.join(shown)}"


@pytest.mark.parametrize("part", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("source", "result"), PAIRS)
def test_floats(source: str, result: str, target: str, part: int) -> None:
    codes = patterns(source, result, part)
    got = run(target, source, result, function(source, result), codes)
    wanted = expected(values_of(codes, FLOATS[source]), FLOATS[result])
    check(got, wanted, FLOATS[result], codes)


def numbers(codes: Array, width: int, *, signed: bool) -> Array:
    """The integers of codes."""
    wide = codes.astype(np.int64)
    return np.where(wide >> (width - 1), wide - (1 << width), wide) if signed else wide


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("source", "result", "fn"), TO_FLOAT)
def test_integers_to_floats(source: str, result: str, fn: str, target: str) -> None:
    codes = patterns(source, result)
    held = numbers(codes, INTEGERS[source].width, signed=fn == "arith.sitofp")
    wanted = expected(held.astype(np.float32), FLOATS[result])
    check(run(target, source, result, fn, codes), wanted, FLOATS[result], codes)


@pytest.mark.parametrize(("source", "result", "fn"), TO_INTEGER)
def test_floats_to_integers(source: str, result: str, fn: str) -> None:
    """Towards zero; beyond the integer's range there is no defined result."""
    width = INTEGERS[result].width
    low = -(1 << (width - 1)) if fn == "arith.fptosi" else 0
    held = np.resize(np.arange(4 * low, 4 * (low + (1 << width)) - 3) / 4, 1024)
    of = FLOATS[source]
    codes = expected(held.astype(np.float32), of)
    wanted = np.trunc(values_of(codes, of)).astype(np.int64) & ((1 << width) - 1)
    check(run("sm_75", source, result, fn, codes), wanted, INTEGERS[result], codes)


@pytest.mark.parametrize(("source", "result", "fn"), INTEGER_WIDTHS)
def test_integers_to_integers(source: str, result: str, fn: str) -> None:
    codes = patterns(source, result)
    held = numbers(codes, INTEGERS[source].width, signed=fn == "arith.extsi")
    wanted = held & ((1 << INTEGERS[result].width) - 1)
    check(run("sm_75", source, result, fn, codes), wanted, INTEGERS[result], codes)


def test_nothing_goes_through_memory() -> None:
    """Of elements of less than a byte LLVM makes vectors that it takes apart on the stack."""
    assert not any(".local" in compiled(target)[0] for target in TARGETS)


@pytest.mark.parametrize(
    ("target", "has"),
    [
        ("sm_75", lambda form: False),
        ("sm_90a", lambda form: "e4m3" in form or "e5m2" in form or "tf32" in form),
        ("sm_100a", lambda form: True),
    ],
)
def test_the_instruction_is_taken_where_there_is_one(
    target: str, has: Callable[[str], bool]
) -> None:
    ptx, _ = compiled(target)
    for form in CONVERSIONS.values():
        assert (f"{form.ptx} " in ptx or f"{form.ptx}\t" in ptx) == has(form.ptx), form.ptx


def test_the_lowest_version_is_written() -> None:
    versions = {target: compiled(target)[0].split(".version ")[1][:3] for target in TARGETS}
    assert versions == {"sm_75": "6.3", "sm_90a": "8.0", "sm_100a": "8.6"}
