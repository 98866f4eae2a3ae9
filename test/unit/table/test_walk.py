"""Every form of the table, from its tile op to the simulator.

Each form stands in a tile program, as `tile-isa emit --format mlir` prints it, for the lowest
target that has it and for the newest, with every value of every selector, and wmma's memory global
and shared. Each program

* compiles, and its PTX holds the form's mnemonic;
* is taken by every ptxas at hand that knows the PTX version;
* gives, on small numbers packed by `tilec.runtime`, exactly numpy's product of the logical
  matrices;
* gives, on random bits with NaNs, infinities and subnormals among them, the bits of a model written
  apart from tilec (`product_model.py`), in the arithmetic of the target, and of sm_90 if it has the
  form and is not the target.

Many programs share one module and one run of ptxas.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest
import tilec
from tilec.dialects.tile.form_program import FormKernel, form_kernel, form_program
from tilec.isa import TARGETS, Family, Form, Mma, PtxVersion, Target, WmmaMma, warp_forms
from tilec.runtime import pack, to_bits, unpack
from tilec.sim import launch
from tilec.sim.ptx import Module, read

SIZE = 48
"""Programs in one module."""

MOVES = (Family.LDMATRIX, Family.STMATRIX, Family.MOVMATRIX)


class Trial(NamedTuple):
    """A program: its form, selectors and the space of its memory."""

    form: Form
    selectors: dict[str, int]
    space: str = ""


class Batch(NamedTuple):
    """Programs that share a module."""

    name: str
    target: Target
    trials: list[Trial]


def trials(form: Form) -> Iterator[Trial]:
    """Programs in which every selector has every value, no two selectors always the same."""
    if form.family in (Family.WMMA_LOAD, Family.WMMA_STORE):
        yield from (Trial(form, {}, space) for space in ("global", "shared"))
        return
    count = max((len(s.legal) for s in form.selectors), default=1)
    for run in range(count):
        yield Trial(
            form,
            {s.name: s.legal[(run + at) % len(s.legal)] for at, s in enumerate(form.selectors)},
        )


def targets(form: Form) -> tuple[Target, Target]:
    """The lowest and the newest that have the form."""
    having = [t for t in TARGETS.values() if form.min_ptx(t)]
    return having[0], having[-1]


def batches() -> Iterator[Batch]:
    groups: dict[tuple[str, Family, PtxVersion], list[Trial]] = defaultdict(list)
    for form in warp_forms().values():
        for target in dict.fromkeys(targets(form)):
            groups[target.name, form.family, form.require(target)] += trials(form)
    for (name, family, _), found in groups.items():
        for start in range(0, len(found), SIZE):
            label = f"{name}-{family}-{form_name(found[start].form)}"
            yield Batch(label, TARGETS[name], found[start : start + SIZE])


def form_name(form: Form) -> str:
    """What tells a batch from others."""
    return re.sub(r".*aligned\.", "", form.ptx)


BATCHES = list(batches())


def kernels_of(batch: Batch) -> list[FormKernel]:
    return [
        form_kernel(t.form, batch.target, selectors=t.selectors, space=t.space, name=f"k{number}")
        for number, t in enumerate(batch.trials)
    ]


def test_every_form_and_selector_is_walked() -> None:
    walked = defaultdict(set)
    values = defaultdict(set)
    for batch in BATCHES:
        for trial in batch.trials:
            walked[trial.form.ptx].add(batch.target)
            for name, value in trial.selectors.items():
                values[trial.form.ptx, name].add(value)
    assert {ptx: set(targets(form)) for ptx, form in warp_forms().items()} == walked
    for form in warp_forms().values():
        for selector in form.selectors:
            assert values[form.ptx, selector.name] == set(selector.legal)


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: batch.name)
def test_walk(batch: Batch, assemblers_for, matrices) -> None:
    kernels = kernels_of(batch)
    ptx = tilec.compile(form_program(kernels, batch.target)).ptx
    module = read(ptx)
    version = PtxVersion.parse(re.search(r"\.version ([\d.]+)", ptx)[1])
    texts = dict(zip(*[iter(re.split(r"\.entry (\w+)\(", ptx)[1:])] * 2, strict=True))
    rng = np.random.default_rng(len(ptx))
    wrong = []
    for kernel, trial in zip(kernels, batch.trials, strict=True):
        space = trial.space or "global"
        if not {kernel.form.mnemonic(s) for s in (space, "shared")} & set(
            texts[kernel.name].split()
        ):
            wrong.append(f"{kernel.form.ptx}: not in the PTX")
        run = run_move if kernel.form.family in MOVES else run_product
        found = run(module, kernel, batch.target, matrices, rng)
        wrong += [f"{kernel.form.ptx} {trial.selectors} {trial.space}: {what}" for what in found]
    assert not wrong, f"{len(wrong)} wrong:\n" + "\n".join(wrong[:20])
    for assembler in assemblers_for(batch.target, version):
        status, report = assembler.run(ptx, assembler.architecture(batch.target))
        assert status == 0, report


def execute(module: Module, kernel: FormKernel, given: dict[str, np.ndarray], arch: str):
    """Launch; memory of the result, or None and what was found."""
    (result,) = (a for a in kernel.arguments if a.written)
    memory = [given[a.name] for a in kernel.arguments]
    report = launch(module, kernel.name, 1, 32, memory, arch=arch)
    return (given[result.name] if report.ok else None), report.findings


def run_product(module, kernel, target, matrices, rng) -> Iterator[str]:
    """What is wrong with a program that multiplies, or that moves a wmma accumulator."""
    product = matrices.product_of(kernel)
    if product is None:
        yield from run_accumulator(module, kernel, target, matrices, rng)
        return
    given, want = matrices.whole_numbers(rng, product)
    memory = images(kernel, product, given, matrices, rng, numbers=True)
    got, findings = execute(module, kernel, memory, target.name)
    if got is None:
        yield f"numbers: {findings}"
        return
    argument = {a.name: a for a in kernel.arguments}["d"]
    d = unpack(got.reshape(-1, got.size), product.operand("d").type).reshape(argument.shape)
    d = np.swapaxes(d, -1, -2) if argument.transposed else d
    if not (d.astype(np.float64) == want).all():
        yield "numbers: not numpy's product"
    arches = [target.name]
    if product.min_ptx(TARGETS["sm_90"]) and product.operand("a").type.is_float:
        arches = list(dict.fromkeys([*arches, "sm_90"]))
    bits = matrices.random_matrices(rng, product)
    for arch in arches:
        memory = images(kernel, product, bits, matrices, rng, numbers=False)
        got, findings = execute(module, kernel, memory, arch)
        if got is None:
            yield f"bits on {arch}: {findings}"
            continue
        d = matrices.read_back(argument, product.operand("d"), got)
        model = matrices.expected(product, bits, arch)
        if not (d == model).all():
            at = tuple(np.argwhere(d != model)[0])
            yield f"bits on {arch}: {d[at]:#x} is not {model[at]:#x} at {at}"


def images(
    kernel: FormKernel, product: Mma | WmmaMma, given, matrices, rng, *, numbers: bool
) -> dict[str, np.ndarray]:
    """The memory of every argument."""
    found = {}
    for argument in kernel.arguments:
        if argument.written:
            found[argument.name] = noise_of(argument, matrices, rng)
            continue
        operand = product.operand(argument.name)

        def noise(shape, operand=operand):
            if numbers and operand.name != "e":
                return np.exp2(rng.integers(-2, 3, shape))
            return rng.integers(0, 16 if operand.name == "e" else 256, shape).astype(np.uint64)

        whole = matrices.placed(
            product, argument.name, given[argument.name], kernel.selectors, noise
        )
        found[argument.name] = matrices.image(argument, operand, whole, numbers=numbers)
    return found


def noise_of(argument, matrices, rng) -> np.ndarray:
    """Memory of an argument with anything in it."""
    count = np.prod(argument.shape, dtype=int) * matrices.element_bytes(argument)
    return rng.integers(0, 256, count, dtype=np.uint8)


def run_accumulator(module, kernel, target, matrices, rng) -> Iterator[str]:
    """A wmma accumulator goes from memory to memory as it is, any bits."""
    source, result = ({a.name: a for a in kernel.arguments}[name] for name in "cd")
    memory = {a.name: noise_of(a, matrices, rng) for a in kernel.arguments}
    given = memory["c"].copy()
    got, findings = execute(module, kernel, memory, target.name)
    if got is None:
        yield f"{findings}"
        return
    (operand,) = (*kernel.form.results, *kernel.form.operands)
    before = matrices.read_back(source, operand, given)
    if not (before == matrices.read_back(result, operand, got)).all():
        yield "the matrix is not as it was"


def run_move(module, kernel, target, matrices, rng) -> Iterator[str]:
    """Matrices are in the places where the ISA has them, unpacked where it says so."""
    memory = {a.name: noise_of(a, matrices, rng) for a in kernel.arguments}
    (source,) = (a for a in kernel.arguments if not a.written)
    want = memory[source.name].copy()
    packed = getattr(kernel.form, "source", None)
    if packed:
        type_ = {"s4": "s4", "b6x16_p32": "e3m2", "b4x16_p64": "e2m1"}[packed]
        rows = memory[source.name].reshape(-1, 16)
        numbers = unpack(
            rows[:, : 8 if type_ == "s4" else 16], type_, "packed" if type_ == "s4" else packed
        )
        repacked = pack(numbers, type_, "packed" if type_ == "s4" else packed)
        rows[:, : repacked.shape[1]] = repacked
        want = to_bits(numbers, "s8" if type_ == "s4" else type_).reshape(-1)
    got, findings = execute(module, kernel, memory, target.name)
    if got is None:
        yield f"{findings}"
    elif not (got == want).all():
        yield "the matrices are not as they were"
