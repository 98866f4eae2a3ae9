"""Every `mma` and `wmma.mma` form against a plain model, bit for bit.

Operands are random matrices put into registers by the ISA's formulas; the plain model computes
elements of D from the matrices. It shares no code with tilec: so this proves layouts, decoding,
sparsity, scales and arithmetic together, on every architecture that has the form natively in
another generation, with NaNs, infinities, subnormals and signed zeros among the operands.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import TARGETS, Mma, WmmaMemory, WmmaMma, form, warp_forms
from tilec.sim.tensor import multiply, wmma_offsets

PRODUCTS = [f for f in warp_forms().values() if isinstance(f, Mma)]
WMMA = [f for f in warp_forms().values() if isinstance(f, WmmaMma)]
SAMPLES = 10
"""Elements of D compared per warp: the plain model is slow, and all are computed alike."""

ARCHES = ("sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100a", "sm_120a")
"""One of each generation."""


def arches(f: Mma | WmmaMma) -> list[str]:
    """Those that have the form; one is enough where arithmetic is exact."""
    found = [name for name in ARCHES if f.min_ptx(TARGETS[name])] or [f.since[0].target]
    type_ = f.operand("a").type
    return found if type_.is_float and type_.name != "f64" else found[:1]


def model(f, tools, plain, values, arch, place):
    """Bits of one element of D."""
    product, row, col = place
    a = [int(x) for x in values["a"][product, row]]
    b = [int(x) for x in values["b"][product, :, col]]
    c = int(values["c"][product, row, col])
    if "e" in values:
        width = f.sparsity.chunk
        per = {2: 1, 4: 2, 8: 4}[width]
        b = [
            b[plain.logical_column(width, int(values["e"][row, i // per]), i)]
            for i in range(len(a))
        ]
    types = tools.types_of(f)
    if types[1] == "f64":
        doubles = [np.array(x, dtype=np.uint64).view(np.float64).tolist() for x in (a, b, c)]
        total = doubles[2]
        for x, y in zip(doubles[0], doubles[1], strict=True):
            total = plain.fma64(x, y, total, f.rounding)
        return int(np.float64(total).view(np.uint64))
    if types[0] == "s32":
        return plain.integer_dot(types[1:3], a, b, c, satfinite=f.satfinite, bit_op=f.bit_op)
    scale = None
    if "sfa" in values:
        of_a, of_b = values["sfa"][row].tolist(), values["sfb"][:, col].tolist()
        scale = f.operand("sfa").type.name, of_a, of_b
    packed = f.operand("a").container < 8
    quad = isinstance(f, Mma) and f.products == 4
    return plain.element(arch, types, a, b, c, scale=scale, packed=packed, quad_pairs=quad)


def moods(f, tools):
    """NaNs and infinities of f64 have no model here."""
    return tools.MOODS[:3] if f.operand("a").type.name == "f64" else tools.MOODS


@pytest.mark.parametrize("f", PRODUCTS, ids=str)
def test_mma(f: Mma, tools, plain) -> None:
    rng = np.random.default_rng(sum(map(ord, f.ptx)))
    selectors = {s.name: int(rng.choice(s.legal)) for s in f.selectors}
    values = [tools.inputs(f, rng, mood) for mood in moods(f, tools)]
    images = [tools.registers(f, plain, v, selectors, rng) for v in values]
    operands = {name: np.stack([i[name] for i in images]) for name in images[0]}
    d = f.operand("d")
    for arch in arches(f):
        result = multiply(f, operands, selectors, arch=arch, numerics="exact")
        for warp, v in enumerate(values):
            for lane, i in rng.integers((32, d.elements), size=(SAMPLES, 2)):
                got = tools.read_image(d, result[warp], lane, i)
                want = model(f, tools, plain, v, arch, tools.element_place(f, plain, d, lane, i))
                assert hex(got) == hex(want), (arch, tools.MOODS[warp], lane, i)


@pytest.mark.parametrize("f", WMMA, ids=str)
def test_wmma_as_stored_matrices(f: WmmaMma, tools, plain) -> None:
    rng = np.random.default_rng(sum(map(ord, f.ptx)))
    values = [tools.inputs(f, rng, mood) for mood in moods(f, tools)]
    operands = {}
    for name in "abc":
        o = f.operand(name)
        rows, cols = wmma_offsets(memory_form(f, name))
        found = []
        for v in values:
            element = {(lane, i): v[name][0, r, c] for (i, lane), r, c in places(rows, cols)}
            found.append(tools.image(o, element))
        operands[name] = np.stack(found)
    d = f.operand("d")
    stored = list(places(*wmma_offsets(memory_form(f, "d"))))
    assert {(r, c) for _, r, c in stored} == {(r, c) for r in range(d.rows) for c in range(d.cols)}
    for arch in arches(f):
        result = multiply(f, operands, {}, arch=arch, numerics="exact")
        for warp, v in enumerate(values):
            for at in rng.integers(len(stored), size=SAMPLES):
                (i, lane), row, col = stored[at]
                got = tools.read_image(d, result[warp], lane, i)
                want = model(f, tools, plain, v, arch, (0, row, col))
                assert hex(got) == hex(want), (arch, tools.MOODS[warp], row, col)


def memory_form(f: WmmaMma, name: str) -> WmmaMemory:
    """The load or store that a fragment of `f` comes from or goes to."""
    o = f.operand(name)
    direction = "store" if name == "d" else "load"
    found = form(f"wmma.{direction}.{name}.sync.aligned.{o.major or 'row'}.{f.shape}.{o.type.name}")
    assert isinstance(found, WmmaMemory)
    return found


def places(rows, cols):
    """((element, lane), row, col) of all."""
    return ((at, int(row), int(cols[at])) for at, row in np.ndenumerate(rows))
