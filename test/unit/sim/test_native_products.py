"""Exact products of tensor cores by machine code, bit for bit those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import element_type
from tilec.sim.native import choice, products
from tilec.sim.native.library import library
from tilec.sim.tensor.arithmetic import Rounding, Step
from tilec.sim.tensor.dot import Factors, dot, factors

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

STEPS = (
    Step(16, 25, Rounding.RZ32, -133),
    Step(8, 24, Rounding.RZ32, -132),
    Step(4, 23, Rounding.RZ32, -131),
    Step(32, 13, Rounding.E8M13, -133),
)
SHAPES = ((16, 16, 8, 8), (8, 16, 8, 24), (64, 16, 16, 2), (13, 4, 8, 1))
"""K, m, n and warps: eight warps at a time, or eight columns; the last step may be short."""


def _values(rng: np.random.Generator, shape: tuple[int, ...], *, kind: str, special: bool):
    """Numbers of all sizes, subnormals and zeros among them; infinities and NaNs if `special`."""
    sizes = 2.0 ** rng.integers(-24, 15, shape)
    values = np.clip(rng.normal(size=shape) * sizes, -65504, 65504).astype(np.float16)
    values = values.astype(np.float32)
    if kind == "bf16":
        values *= np.float32(2.0) ** rng.integers(-110, 90, shape).astype(np.float32)
        values = (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    values[rng.random(shape) < 0.1] = 0
    if special:
        for odd in (np.inf, -np.inf, np.nan):
            values[rng.random(shape) < 0.01] = odd
    return values


def _both(monkeypatch: pytest.MonkeyPatch, step: Step, a: Factors, b: Factors, c: np.ndarray):
    monkeypatch.setattr(choice, "WORK", 0)
    found = []
    for engine in choice.ENGINES:
        monkeypatch.setenv(choice.VARIABLE, engine)
        found.append(dot(step, a, b, c))
    return found


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, 40))]
)
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("special", [False, True])
def test_random_products(
    monkeypatch: pytest.MonkeyPatch, kind: str, seed: int, *, special: bool
) -> None:
    rng, type_ = np.random.default_rng(seed), element_type(kind)
    for step in STEPS:
        for k, m, n, warps in SHAPES:
            a = factors(_values(rng, (k, m, 1, warps), kind=kind, special=special), type_)
            b = factors(_values(rng, (k, 1, n, warps), kind=kind, special=special), type_)
            c = _values(rng, (m, n, warps), kind="bf16", special=special)
            expected, got = _both(monkeypatch, step, a, b, c)
            assert got.tobytes() == expected.tobytes(), (step, k, m, n, warps)


def test_machine_code_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """And numpy where it has no form: f16 sums, and shapes that no vector divides."""
    calls = []
    call = products._call
    monkeypatch.setattr(products, "_call", lambda *args: calls.append(args[1]) or call(*args))
    rng, type_ = np.random.default_rng(0), element_type("f16")

    def run(m: int, n: int, warps: int, dtype: type) -> int:
        calls.clear()
        a = factors(_values(rng, (16, m, 1, warps), kind="f16", special=False), type_)
        b = factors(_values(rng, (16, 1, n, warps), kind="f16", special=False), type_)
        rounding = Rounding.RNE16 if dtype is np.float16 else Rounding.RZ32
        step = Step(16, 25, rounding, -133)
        expected, got = _both(monkeypatch, step, a, b, np.zeros((m, n, warps), dtype))
        assert got.tobytes() == expected.tobytes()
        return len(calls)

    assert run(16, 8, 16, np.float32) == 1
    assert run(16, 8, 3, np.float32) == 3
    assert run(4, 4, 3, np.float32) == 0
    assert run(16, 8, 8, np.float16) == 0
