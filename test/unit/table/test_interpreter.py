"""Instructions as the interpreter has them, at level 3: numbers of numpy, bits of a model."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tilec.dialects.tile.form_program import FormKernel, form_kernel, form_program
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import Buffer, View, arithmetic_of, interpret
from tilec.interpret.memory import dtype_of
from tilec.interpret.numbers import number, wrap
from tilec.isa import Family, Product, forms, target
from tilec.passes.functions import functions, gpu_modules
from tilec.report.diagnostics import Source

FAMILIES = (
    *(Family.MMA, Family.MMA_SP, Family.MMA_BLOCK_SCALE, Family.MMA_SP_BLOCK_SCALE),
    *(Family.WMMA_MMA, Family.WMMA_LOAD),
)
EACH = 3


def products(family: Family) -> list[Product]:
    """The forms of a family of which a kernel computes one product."""
    found = [form for form in forms().values() if form.family == family]
    return sorted((f for f in found if f.products <= 1), key=lambda form: form.ptx)


def drawn(family: Family) -> list[str]:
    known = products(family)
    order = np.random.default_rng(len(family.value)).permutation(len(known))
    return [known[at].ptx for at in order[:EACH]]


def kernel_of(name: str, seed: int) -> tuple[FormKernel, str]:
    """The kernel of a form, with drawn selectors, and its target."""
    form, random = forms()[name], np.random.default_rng(seed)
    chip = form.since[0].target
    chosen = {s.name: int(random.choice(list(s.legal))) for s in form.selectors}
    return form_kernel(form, target(chip), selectors=chosen), chip


def launched(kernel: FormKernel, chip: str, memory: dict[str, Any], numerics: str) -> Any:
    """What the kernel leaves of its result, as bytes."""
    arithmetic = arithmetic_of(numerics)
    text = form_program([kernel], target(chip))
    module = parse(Source("-", text), new_context())
    (function,) = functions(next(gpu_modules(module)))
    given = []
    values = list(function.regions[0].blocks[0].arguments)
    for argument, value in zip(kernel.arguments, values, strict=True):
        of = number(value.type)
        codes = memory[argument.name].view(f"u{of.bits // 8}").astype(np.uint64).view(np.int64)
        data = arithmetic.decode(codes, of) if of.is_float else wrap(codes, of.bits)
        buffer = Buffer(data.astype(dtype_of(of, arithmetic)), of)
        given.append(View.whole(buffer, tuple(argument.shape)))
    done = interpret(function, given, arithmetic, target=chip)
    assert not done.findings
    (at,) = (n for n, argument in enumerate(kernel.arguments) if argument.written)
    left, of = done.memories[at], given[at].buffer.number
    if numerics == "f64":
        return left
    codes = arithmetic.encode(left, of) if of.is_float else left
    return codes.astype(np.uint64).astype(f"u{of.bits // 8}").view(np.uint8)


def images(kernel, product, given, matrices, random, *, numbers: bool) -> dict[str, Any]:
    """Memory of each argument."""
    found = {}
    for argument in kernel.arguments:
        operand = product.operand(argument.name)
        if argument.written:
            size = int(np.prod(argument.shape)) * matrices.element_bytes(argument)
            found[argument.name] = np.zeros(size, np.uint8)
            continue

        def noise(shape: tuple[int, ...], operand: Any = operand) -> Any:
            if numbers:
                return np.ones(shape) if operand.name != "e" else np.full(shape, 4)
            return random.integers(0, 16 if operand.name == "e" else 256, shape).astype(np.uint64)

        whole = matrices.placed(
            product, argument.name, given[argument.name], kernel.selectors, noise
        )
        found[argument.name] = matrices.image(argument, operand, whole, numbers=numbers)
    return found


def check(matrices: ModuleType, name: str) -> None:
    kernel, chip = kernel_of(name, len(name))
    product, random = matrices.product_of(kernel), np.random.default_rng(3)
    if product is None:
        pytest.skip("moves an accumulator")
    result = {a.name: a for a in kernel.arguments}["d"]
    given, want = matrices.whole_numbers(random, product)
    memory = images(kernel, product, given, matrices, random, numbers=True)
    got = launched(kernel, chip, memory, "f64").reshape(result.shape).astype(np.float64)
    got = np.swapaxes(got, -1, -2) if result.transposed else got
    np.testing.assert_array_equal(got, want)
    bits = matrices.random_matrices(random, product)
    memory = images(kernel, product, bits, matrices, random, numbers=False)
    left = launched(kernel, chip, memory, "hardware")
    got = matrices.read_back(result, product.operand("d"), left)
    np.testing.assert_array_equal(got, matrices.expected(product, bits, chip))


@pytest.mark.parametrize("name", [name for family in FAMILIES for name in drawn(family)])
def test_a_drawn_part(matrices: ModuleType, name: str) -> None:
    check(matrices, name)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all(matrices: ModuleType, family: Family) -> None:
    for form in products(family):
        check(matrices, form.ptx)
