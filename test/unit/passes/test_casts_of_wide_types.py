"""Casts between integers and floats of 16 to 64 bits do what numpy does, where that is defined."""

from __future__ import annotations

import itertools

import numpy as np
import tilec
from tilec.sim import launch

INTEGERS = {"i16": np.int16, "i32": np.int32, "i64": np.int64}
FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
DTYPES = INTEGERS | FLOATS
SHAPE = (16, 8)


def casts() -> list[tuple[str, str, str]]:
    """Every cast: upstream's op, source, result."""
    found = [
        (fn, source, result)
        for source, result in itertools.product(INTEGERS, FLOATS)
        for fn in ("arith.sitofp", "arith.uitofp")
    ]
    found += [
        (fn, source, result)
        for source, result in itertools.product(FLOATS, INTEGERS)
        for fn in ("arith.fptosi", "arith.fptoui")
    ]
    for narrow, wide in itertools.combinations(INTEGERS, 2):
        found += [
            ("arith.extsi", narrow, wide),
            ("arith.extui", narrow, wide),
            ("arith.trunci", wide, narrow),
        ]
    for narrow, wide in itertools.combinations(FLOATS, 2):
        found += [("arith.extf", narrow, wide), ("arith.truncf", wide, narrow)]
    for integer, real in zip(INTEGERS, FLOATS, strict=True):
        found += [("arith.bitcast", integer, real), ("arith.bitcast", real, integer)]
    return found


def _kernel(number: int, fn: str, source: str, result: str) -> str:
    before, after = f"memref<16x8x{source}>", f"memref<16x8x{result}>"
    return f"""
  gpu.func @k{number}(%p: {before}, %q: {after})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %x = "tile.load"(%p, %z, %z) : ({before}, index, index) -> tensor<16x8x{source}, #L>
    %y = {fn} %x : tensor<16x8x{source}, #L> to tensor<16x8x{result}, #L>
    "tile.store"(%y, %q, %z, %z) : (tensor<16x8x{result}, #L>, {after}, index, index) -> ()
    gpu.return
  }}"""


def _wanted(fn: str, values: np.ndarray, result: str) -> np.ndarray:
    unsigned = fn in ("arith.uitofp", "arith.extui")
    if fn == "arith.bitcast":
        return values.view(DTYPES[result])
    source = values.view(f"u{values.itemsize}") if unsigned else values
    if fn == "arith.fptoui":
        wide = np.dtype(DTYPES[result])
        return source.astype(f"u{wide.itemsize}").view(wide)
    with np.errstate(over="ignore"):
        return source.astype(DTYPES[result])


def test_every_cast() -> None:
    everything = casts()
    kernels = "".join(_kernel(number, *cast) for number, cast in enumerate(everything))
    text = f'#L = #tile.layout<"m16n8k16 c f32">\ngpu.module @m {{{kernels}\n}}\n'
    compiled = tilec.compile(text, target="sm_80")
    random = np.random.default_rng(6)
    for number, (fn, source, result) in enumerate(everything):
        dtype = np.dtype(DTYPES[source])
        if source in INTEGERS:
            info = np.iinfo(dtype)
            values = random.integers(info.min, info.max, SHAPE, dtype, endpoint=True)
        else:
            low = 0 if fn == "arith.fptoui" else -30000
            values = random.uniform(low, 30000, SHAPE).astype(dtype)
        got = np.zeros(SHAPE, DTYPES[result])
        report = launch(compiled.ptx, f"k{number}", 1, 32, [values, got])
        assert not report.findings
        wanted = _wanted(fn, values, result)
        assert got.tobytes() == wanted.tobytes(), (fn, source, result)
