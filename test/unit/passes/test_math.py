"""`math` ops hold their bounds over the whole range of f32, special numbers included.

Kernels run on the simulator, a value a thread; double precision, of numpy or of `math`, says what
is right. Exact leave is checked in units of the last place, approximation as the PTX ISA bounds
the instructions after it.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import tilec
from tilec.sim import launch

BLOCK = 256
REFERENCE = {
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "exp2": np.exp2,
    "log": np.log,
    "log10": np.log10,
    "log2": np.log2,
    "tanh": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
}
UNITS = {
    "erf": 4,
    "expm1": 6,
    "log1p": 6,
    "exp": 4,
    "exp2": 4,
    "log": 4,
    "log10": 4,
    "log2": 4,
    "tanh": 6,
    "sin": 3,
    "cos": 3,
}
"""Units of the last place, at most."""
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 3.4e38, -3.4e38]


def _values() -> np.ndarray:
    random = np.random.default_rng(7)
    count = 40 * BLOCK
    spread = random.integers(0, 1 << 32, count, np.uint64).astype(np.uint32).view(np.float32)
    near = random.normal(scale=1, size=count)
    around_one = 1 + random.normal(scale=0.01, size=count)
    wide = random.uniform(-110, 110, count)
    with np.errstate(invalid="ignore"):
        drawn = np.concatenate([spread, near, around_one, wide]).astype(np.float32)
    drawn[: len(SPECIAL)] = SPECIAL
    return drawn


def _run(body: str, operands: list[np.ndarray], element: str = "f32") -> np.ndarray:
    """What `%r` is for each value of the operands, `%a`, `%b`."""
    names = "ab"[: len(operands)]
    memory = f"memref<?x{element}>"
    arguments = "".join(f"%{n}m: {memory}, " for n in names)
    loads = "".join(f"    %{n} = memref.load %{n}m[%i] : {memory}\n" for n in names)
    text = f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k({arguments}%rm: {memory}) kernel
      attributes {{known_block_size = array<i32: {BLOCK}, 1, 1>}} {{
    %t = gpu.thread_id x
    %c = gpu.block_id x
    %size = arith.constant {BLOCK} : index
    %first = arith.muli %c, %size : index
    %i = arith.addi %first, %t : index
{loads}    {body}
    memref.store %r, %rm[%i] : {memory}
    gpu.return
  }}
}}
"""
    got = np.zeros_like(operands[0])
    passed: list[object] = []
    for array in (*operands, got):
        passed += [array, array.size]
    launch(tilec.compile(text).ptx, "k", got.size // BLOCK, BLOCK, passed)
    return got


def _errors(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """In units of the last place of what is right; infinity for a wrong special number."""
    rounded = wanted.astype(np.float32)
    unit = np.spacing(np.maximum(np.abs(rounded), np.float32(2.0**-126))).astype(np.float64)
    special = ~np.isfinite(rounded)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    finite = np.abs(got.astype(np.float64) - wanted) / np.where(special, 1, unit)
    return np.where(special, np.where(same, 0, math.inf), finite)


@pytest.mark.parametrize("name", UNITS)
def test_units_of_the_last_place(name: str) -> None:
    values = _values()
    with np.errstate(all="ignore"):
        wanted = REFERENCE[name](values.astype(np.float64))
    got = _run(f"%r = math.{name} %a : f32", [values])
    with np.errstate(all="ignore"):
        errors = _errors(got, wanted)
    # Where the next number is infinity, either will do.
    errors[np.abs(wanted) > 3.4028e38] = 0
    worst = int(errors.argmax())
    assert errors[worst] <= UNITS[name], (name, values[worst], got[worst], wanted[worst])


@pytest.mark.parametrize(("name", "bound"), [("log2", 2**-21), ("log", 2**-21), ("log10", 2**-21)])
def test_approximate_logarithms(name: str, bound: float) -> None:
    values = np.abs(_values())
    values = values[values >= 2.0**-126][: 80 * BLOCK]
    got = _run(f"%r = math.{name} %a fastmath<afn> : f32", [values])
    wanted = REFERENCE[name](values.astype(np.float64))
    np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound)


@pytest.mark.parametrize("name", ["exp", "sin", "cos", "tanh"])
def test_approximations(name: str) -> None:
    values = np.random.default_rng(3).uniform(-3, 3, 16 * BLOCK).astype(np.float32)
    got = _run(f"%r = math.{name} %a fastmath<afn> : f32", [values])
    wanted = REFERENCE[name](values.astype(np.float64))
    tolerance = {"tanh": 2**-10.9}.get(name, 2**-20)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=2**-20)


def test_powers_over_the_whole_range() -> None:
    """Special cases as numpy has them; the next number to infinity may be either."""
    random = np.random.default_rng(11)
    base = _values()[: 80 * BLOCK]
    power = np.concatenate(
        [random.normal(scale=3, size=40 * BLOCK), np.resize(_values(), 20 * BLOCK)]
    ).astype(np.float32)
    power = np.concatenate([power, np.rint(random.uniform(-40, 40, 20 * BLOCK))])
    power = power.astype(np.float32)
    base[-8 * BLOCK :] = 1 + random.normal(scale=1e-3, size=8 * BLOCK)
    power[-8 * BLOCK :] = random.uniform(-3e4, 3e4, 8 * BLOCK)
    pairs = np.array([(a, b) for a in SPECIAL for b in (*SPECIAL, 3.0, -2.0, 0.5, 2.5)], np.float32)
    base[: len(pairs)], power[: len(pairs)] = pairs.T
    got = _run("%r = math.powf %a, %b : f32", [base, power])
    with np.errstate(all="ignore"):
        wanted = base.astype(np.float64) ** power
        errors = _errors(got, wanted)
    errors[np.abs(wanted) > 3.4027e38] = 0
    signs = np.signbit(got) == np.signbit(wanted)
    wrong = np.flatnonzero(~(signs | np.isnan(wanted)))
    assert not wrong.size, (base[wrong[0]], power[wrong[0]], got[wrong[0]], wanted[wrong[0]])
    worst = int(errors.argmax())
    assert errors[worst] <= 4, (base[worst], power[worst], got[worst], wanted[worst])


def test_powers() -> None:
    random = np.random.default_rng(5)
    base = random.uniform(-4, 4, 16 * BLOCK).astype(np.float32)
    power = random.uniform(-4, 4, base.size).astype(np.float32)
    power[::2] = np.rint(power[::2])
    got = _run("%r = math.powf %a, %b fastmath<afn> : f32", [base, power])
    with np.errstate(all="ignore"):
        wanted = base.astype(np.float64) ** power
    np.testing.assert_allclose(got, wanted, rtol=2**-18)


@pytest.mark.parametrize("element", ["i32", "i64"])
@pytest.mark.parametrize("name", ["ceildivsi", "floordivsi", "ceildivui"])
def test_integer_divisions(name: str, element: str) -> None:
    random = np.random.default_rng(9)
    dtype = np.dtype(f"int{element[1:]}")
    left = random.integers(-100, 100, 4 * BLOCK).astype(dtype)
    right = random.integers(1, 12, left.size).astype(dtype)
    if name.endswith("si"):
        right *= random.choice(np.array([-1, 1], dtype), left.size)
    else:
        left = np.abs(left)
    wanted = left // right if name == "floordivsi" else -(-left // right)
    got = _run(f"%r = arith.{name} %a, %b : {element}", [left, right], element)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_narrow_floats_go_through_f32(element: str) -> None:
    memory = f"memref<8x8x{element}>"
    tile = f'!tile.frag<tensor<8x8x{element}>, #tile.layout<"m8n8k4 c f64">>'
    text = f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%p: {memory}, %q: {memory}) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %x = "tile.load"(%p, %z, %z) : ({memory}, index, index) -> {tile}
    %y = "tile.elementwise"(%x) {{fn = "math.exp"}} : ({tile}) -> {tile}
    "tile.store"(%y, %q, %z, %z) : ({tile}, {memory}, index, index) -> ()
    gpu.return
  }}
}}
"""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.float16 if element == "f16" else ml_dtypes.bfloat16
    values = np.linspace(-4, 4, 64).reshape(8, 8).astype(dtype)
    got = np.zeros_like(values)
    launch(tilec.compile(text).ptx, "k", 1, 32, [values, got])
    wanted = np.exp(values.astype(np.float64))
    unit = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=unit / 2 * 1.01)


def test_a_fast_power_of_two_flushes() -> None:
    values = _values()
    with np.errstate(all="ignore"):
        wanted = np.exp2(values.astype(np.float64))
        small = np.abs(values) < 2.0**-126
        got = _run("%r = math.exp2 %a fastmath<afn> : f32", [values])
        errors = _errors(got, wanted)
    errors[np.abs(wanted) > 3.4028e38] = 0
    flushed = (wanted < 2.0**-126) & (got == 0)
    assert flushed.any()
    assert (got[small] == 1).all()
    assert errors[~flushed].max() <= UNITS["exp2"]
