"""Exact products from fragments by machine code, bit for bit those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import ExecutionScope, Product, TilecError, forms
from tilec.isa import form as find_form
from tilec.sim import tensor
from tilec.sim.native import choice
from tilec.sim.native.fragment_products import products_of
from tilec.sim.native.library import library
from tilec.sim.tensor.fragment import Fragment

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

ARCHES = ("sm_75", "sm_80", "sm_89", "sm_90a")
WARPS = 5
PLAIN = [
    f"{mma}.aligned.{shape}.row.col.f32.{type_}.{type_}.f32"
    for mma, shape, type_ in (
        ("mma.sync", "m16n8k16", "f16"), ("mma.sync", "m16n8k8", "f16"),
        ("mma.sync", "m16n8k16", "bf16"), ("mma.sync", "m16n8k8", "bf16"),
        ("mma.sync", "m16n8k8", "tf32"), ("mma.sync", "m16n8k4", "tf32"),
    )
]  # fmt: skip
PLAIN += [
    f"wmma.mma.sync.aligned.{rest}"
    for rest in (
        "row.col.m16n16k16.f32.f32", "col.row.m8n32k16.f32.bf16.bf16.f32",
        "col.col.m16n16k8.f32.tf32.tf32.f32",
    )
]  # fmt: skip


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], spread: int) -> np.ndarray:
    """Numbers of all sizes within 2^-spread and 2^spread, with zeros."""
    found = (rng.normal(size=shape) * 2.0 ** rng.integers(-spread, spread, shape)).astype("f4")
    found[rng.random(shape) < 0.1] = 0
    return found


def _registers(rng: np.random.Generator, form: Product, name: str, spread: int) -> np.ndarray:
    """Registers of an operand that hold such numbers."""
    operand = form.operand(name)
    shape = WARPS, operand.registers, 32 * operand.per_register
    values = _numbers(rng, shape, min(spread, 12) if operand.type.name == "f16" else spread)
    if operand.type.name == "f16":
        return values.astype("f2").view(np.uint32)
    if operand.type.name == "bf16":
        return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint32)
    return values.view(np.uint32)


def _compare(form: Product, arch: str, given: list[np.ndarray]) -> bool:
    """Whether machine code has computed it; then it must be what numpy computes."""
    products = products_of(form, arch)
    assert products is not None
    got = products.multiply(*map(Fragment, given))
    if got is not None:
        operands = dict(zip("abc", given, strict=True))
        expected = tensor.multiply(form, operands, {}, arch=arch, numerics="exact")
        assert got.registers.tobytes() == expected.tobytes(), (form.ptx, arch)
    return got is not None


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "WORK", 0)


def _known(ptx: str) -> Product:
    form = find_form(ptx)
    assert isinstance(form, Product)
    return form


@pytest.mark.parametrize(
    "count", [12, pytest.param(20_000, marks=pytest.mark.slow, id="100000 instructions")]
)
@pytest.mark.parametrize("ptx", PLAIN)
def test_random_fragments(ptx: str, count: int) -> None:
    """Ordinary numbers are computed; rows and columns of zeros, and cancelling sums, too."""
    form, rng = _known(ptx), np.random.default_rng(count)
    arches = [arch for arch in ARCHES if _has(form, arch)]
    assert arches
    for number in range(count):
        arch = arches[number % len(arches)]
        spread = int(rng.integers(1, 24))
        given = [_registers(rng, form, name, spread) for name in "abc"]
        if number % 4 == 0:
            given[2][:] = 0
        if number % 5 == 0:
            given[number % 2][: WARPS // 2] = 0
        if number % 7 == 0:  # of which c is what A times B was
            d = tensor.multiply(
                form, dict(zip("abc", given, strict=True)), {}, arch=arch, numerics="exact"
            )
            given[2] = d ^ np.uint32(1 << 31)
        assert _compare(form, arch, given), (ptx, arch)


def _has(form: Product, arch: str) -> bool:
    return products_of(form, arch) is not None


@pytest.mark.parametrize("ptx", PLAIN)
def test_any_bits(ptx: str) -> None:
    """Of registers with any bits, numpy computes what machine code does not."""
    form, rng = _known(ptx), np.random.default_rng(1)
    done = []
    for arch in (arch for arch in ARCHES if _has(form, arch)):
        for _ in range(3):
            given = [
                rng.integers(0, 1 << 32, (WARPS, form.operand(name).registers, 32), np.uint32)
                for name in "abc"
            ]
            assert not _compare(form, arch, given)
            # c alone of any bits, with infinities and NaNs in every other
            given = [_registers(rng, form, name, 3) for name in "ab"]
            c = rng.integers(0, 1 << 32, (WARPS, form.operand("c").registers, 32), np.uint32)
            if rng.random() < 0.5:
                c &= np.uint32(0xBFFFFFFF)
            done.append(_compare(form, arch, [*given, c]))
    assert True in done
    assert False in done


def test_what_has_none() -> None:
    """Other types, sums of f16, selectors and groups of threads are not for it."""
    for ptx in forms():
        form = find_form(ptx)
        if not isinstance(form, Product) or form.ptx in PLAIN:
            continue
        try:
            found = products_of(form, "sm_90a")
        except TilecError:
            continue
        if found is not None:
            assert form.scope is ExecutionScope.WARP
            assert {form.operand(name).type.name for name in "cd"} == {"f32"}
            assert not form.selectors
